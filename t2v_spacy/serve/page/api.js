// Calls of the API. What fails has a message for people.

const API = "/api/v1";

export class Failure extends Error {
  constructor(message, field, status) {
    super(message);
    this.field = field;
    this.status = status;
  }
}

export async function call(path, body, signal) {
  return (await request(path, body, signal)).json();
}

export async function file(path, body) {
  return (await request(path, body)).blob();
}

async function request(path, body, signal) {
  const options = { signal };
  if (body !== undefined) {
    Object.assign(options, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  }
  let answer;
  try {
    answer = await fetch(API + path, options);
  } catch (err) {
    if (err.name === "AbortError") throw err;
    throw new Failure("The server does not answer. Is it still running?", null, 0);
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => null);
  const { message, field } = told?.error ?? { message: `The server answered ${answer.status}.`, field: null };
  throw new Failure(message, field, answer.status);
}
