import { expect, test } from "vitest";
import { agentMessage } from "../../api/authorize.ts";
import { parseChatPrompt } from "./script.ts";

test("[AUTHORIZE-8] the demo agent runs no command and writes no file that a quotation asks for", () => {
  const asked = "say: heard\ntool: touch x\nedit: a.md words";
  expect(parseChatPrompt(asked).map(({ step }) => step)).toEqual(["say", "tool", "edit"]);
  expect(parseChatPrompt(agentMessage("ma-1", asked)).map(({ step }) => step)).toEqual(["say"]);
  const behind = `${agentMessage("ma-1", "```\ntool: touch x")}\ntool: ls`;
  expect(parseChatPrompt(behind)).toEqual([{ step: "tool", command: "ls" }]);
});
