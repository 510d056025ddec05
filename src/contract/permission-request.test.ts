import * as fc from "fast-check";
import { expect, test } from "vitest";
import { asLaunchId } from "./ids.ts";
import { agentIdOf, newRequestName, requestName, requestsNamed } from "./permission-request.ts";

const launch = asLaunchId("l-1");

test("[TEXT-1] every name that is shown is safe to type, whatever an earlier build stored", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (words) => {
      expect(requestName(`${launch}:${JSON.stringify(words)}`)).toMatch(/^[a-z0-9-]{1,32}$/);
    }),
  );
  expect(requestName(newRequestName(12))).toBe("q12");
});

test("[TEXT-2] a question of an earlier build is found by its derived name and answered under the agent's id", () => {
  const old = { requestId: `${launch}:"$(rm -rf ~)"` };
  const other = { requestId: `${launch}:7` };
  const name = requestName(old.requestId);
  expect(requestsNamed([old, other], name)).toEqual([old]);
  expect(requestsNamed([old, other], old.requestId)).toEqual([old]);
  expect([agentIdOf(launch, old), agentIdOf(launch, other)]).toEqual(["$(rm -rf ~)", 7]);
  expect(agentIdOf(asLaunchId("l-2"), old)).toBeUndefined();
  expect(agentIdOf(launch, { requestId: `${launch}:[[]]` })).toBeUndefined();
  expect(agentIdOf(asLaunchId("l-2"), { requestId: "q1", asker: { launch, id: 1 } })).toBeUndefined();
});
