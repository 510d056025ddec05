/** This browser's token. It is kept for this origin only; a cookie would also be sent to other programs of this machine. */
const tokenKey = "holdfast:token";

export function token(): string | null {
  return localStorage.getItem(tokenKey);
}

export function keepToken(value: string): void {
  localStorage.setItem(tokenKey, value);
}

export function forgetToken(): void {
  localStorage.removeItem(tokenKey);
}

/** The one-time code of a printed link. It is taken out of the address, so that nobody copies it from there. */
export function takeLoginCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("login");
  if (code !== null) history.replaceState(null, "", location.pathname);
  return code;
}
