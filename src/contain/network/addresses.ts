/**
 * Which addresses are on the public internet. All others are somebody's own network: this machine, its neighbors, and the
 * metadata service of a cloud machine, which hands out credentials to every program that asks.
 */
import { BlockList, isIPv4, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { special4 } from "../../base/addresses.ts";

/** Below 2000::/3, outside of which no address is public. */
const special6: [string, number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  // Carries an IPv4 address, to which a router on the way would deliver.
  ["2002::", 16],
  ["3fff::", 20],
];

const notPublic4 = new BlockList();
for (const [net, prefix] of special4) notPublic4.addSubnet(net, prefix, "ipv4");
const public6 = new BlockList();
public6.addSubnet("2000::", 3, "ipv6");
const notPublic6 = new BlockList();
for (const [net, prefix] of special6) notPublic6.addSubnet(net, prefix, "ipv6");

/** `own`: the machine's addresses; a public one leads to services of this machine too. */
export function isPublic(address: string, own: ReadonlySet<string> = ownAddresses()): boolean {
  if (own.has(address)) return false;
  if (isIPv4(address)) return !notPublic4.check(address, "ipv4");
  // IPv4 addresses within IPv6 (::ffff:0:0/96, 64:ff9b::/96) are outside of 2000::/3.
  return isIPv6(address) && public6.check(address, "ipv6") && !notPublic6.check(address, "ipv6");
}

function ownAddresses(): ReadonlySet<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address)));
}
