/**
 * Where a push may go. Its address is given by a browser, so it could name anything that this machine reaches: only
 * public places are asked, and what a name resolves to is looked at where the connection is made, not before.
 */
import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { special4 } from "../../base/addresses.ts";

/** What browsers' own push services give out has a few hundred characters. */
export const maxAddressLength = 2048;

/** The sentence that refuses it, or null. `loopback`: a test's own push service may be asked as well. */
export function refuseAddress(address: string, loopback: boolean): string | null {
  const url = URL.parse(address);
  if (url === null || address.length > maxAddressLength) return "It is no address of a push service.";
  if (url.username !== "" || url.password !== "") return "An address of a push service holds no login.";
  if (loopback && url.protocol === "http:" && url.hostname === "127.0.0.1") return null;
  if (url.protocol !== "https:") return "A push service is asked over https only.";
  const host = url.hostname.replace(/^\[|\]$|\.+$/g, "");
  const named = host === "localhost" || host.endsWith(".localhost");
  return named || (isIP(host) !== 0 && isPrivate(host)) ? "A push service has a public address." : null;
}

/** In the place of the system's: a public name that points into a private network leads nowhere. */
export const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error !== null) return done(error, "", 4);
    const open = found.filter(({ address }) => !isPrivate(address));
    const [first] = open;
    if (first === undefined) return done(new PrivateAddress(), "", 4);
    if (options.all === true) return done(null, open);
    return done(null, first.address, first.family);
  });
};

export class PrivateAddress extends Error {
  constructor() {
    super("its name leads to a private address");
  }
}

let list: BlockList | undefined;

export function isPrivate(address: string): boolean {
  list ??= privateList();
  // An IPv4 address in the notation of IPv6 is looked up among those of IPv4.
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function privateList(): BlockList {
  const made = new BlockList();
  const six: [string, number][] = [
    ["::", 127],
    // Ways to IPv4 addresses, private ones among them: NAT64 (RFC 6052, 8215), 6to4, Teredo.
    ["64:ff9b::", 96],
    ["64:ff9b:1::", 48],
    ["2002::", 16],
    ["2001::", 32],
    // For documentation, and to be dropped.
    ["2001:db8::", 32],
    ["100::", 64],
    ["fc00::", 7],
    ["fe80::", 10],
    ["fec0::", 10],
    ["ff00::", 8],
  ];
  for (const [net, bits] of special4) made.addSubnet(net, bits, "ipv4");
  for (const [net, bits] of six) made.addSubnet(net, bits, "ipv6");
  return made;
}
