"""Texts as people paste them: registry pages of two ages, and a synopsis."""

from __future__ import annotations

CURRENT_PAGE = """Study of Drugamab in Asthma (DRAST)
ClinicalTrials.gov ID NCT90001234
Sponsor
Some University

Study Overview
Brief Summary
This study tests drugamab.

Detailed Description
Attacks are common.

More prose.
Official Title
A Randomised Study of Drugamab
Conditions
Asthma
Asthma, Allergic
Intervention / Treatment
Drug: Drugamab
Drug: Placebo
Study Start (Actual)
2020-01-01
Enrollment (Estimated)
120
Study Type
Interventional
Phase
Phase 2
Phase 3

Participation Criteria
Eligibility Criteria
Description
Inclusion Criteria:

* Adults
* FEV1 below 80%

Exclusion Criteria:

* Smokers
Ages Eligible for Study
18 Years to 65 Years (Adult, Older Adult )
Sexes Eligible for Study
All
Accepts Healthy Volunteers
No
Study Plan
How is the study designed?
Design Details
Primary Purpose : Treatment
Allocation : Randomized
Interventional Model : Parallel Assignment
Masking : Double (Participant, Investigator)
Arms and Interventions
Participant Group / Arm
Intervention / Treatment
Experimental: A
Drug: Drugamab
What is the study measuring?
Primary Outcome Measures
Outcome Measure
Measure Description
Time Frame
FEV1 change
In litres
12 weeks
Keywords Provided by Some University
biologic
attacks
"""
CLASSIC_PAGE = """Brief Summary:
The purpose is to test a stent.
Condition or disease:\tAngina
Study Type :\tInterventional  (Clinical Trial)
Actual Enrollment :\t90 participants
Official Title:\tStent or no Stent
Primary Outcome Measures :
1. Death [ Time Frame: 1 year ]
2. Pain score [ Time Frame: 30 days ]
Criteria
Inclusion Criteria:
- Angina
Exclusion Criteria:
- Shock
Ages Eligible for Study:   \t18 Years and older   (Adult, Older Adult)
Sexes Eligible for Study:   \tFemale
"""
SYNOPSIS = """PROTOCOL SYNOPSIS
Protocol Title: Tablet X in breast cancer
Indication: Metastatic breast cancer
Investigational product: X 10 mg
Objectives: To assess survival.
Primary endpoint: Survival
Secondary endpoints:
- Pain
- Sleep
Study design: Open label
5.1 Inclusion criteria
1. Women
2. Age over 18
5.2 Exclusion criteria
1. Pregnancy
Test product, dose and mode of administration: X 10 mg by mouth
Number of subjects (planned): 50
Statistical methods: Kaplan-Meier.
"""
