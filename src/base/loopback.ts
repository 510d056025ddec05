/** Whether a host, as a name or an address without brackets, is this machine and nobody else's. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** A host as an address has it (`[::1]`, `LocalHost`), as a name or a plain address. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
}
