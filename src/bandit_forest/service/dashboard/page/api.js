// Asks the service. The key stays in this tab: sessionStorage is gone when the tab is closed.

const KEY = "bandit-forest-key";

export class KeyNeeded extends Error {}
export class Absent extends Error {}

export const hasKey = () => sessionStorage.getItem(KEY) !== null;
export const keepKey = (key) => sessionStorage.setItem(KEY, key);
export const forgetKey = () => sessionStorage.removeItem(KEY);

async function ask(path) {
  const key = sessionStorage.getItem(KEY);
  const response = await fetch(path, {
    headers: key === null ? {} : { Authorization: `Bearer ${key}` },
    cache: "no-store",
    signal: AbortSignal.timeout(15_000),
  });
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))).error ?? {};
  const reason = problem.message ?? `The service answered with status ${response.status}.`;
  if (response.status === 401 || response.status === 403) throw new KeyNeeded(reason);
  if (response.status === 404) throw new Absent(reason);
  throw new Error(reason);
}

export const getJson = async (path) => (await ask(path)).json();
export const getBlob = async (path) => (await ask(path)).blob();
