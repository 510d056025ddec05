import { expect, test } from "vitest";
import { keyBytes, withCtrl } from "./key-bar.tsx";

test("keys are sent as a terminal sends them", () => {
  expect([keyBytes("up", false), keyBytes("up", true)]).toEqual(["\u001b[A", "\u001bOA"]);
  expect([keyBytes("esc", false), keyBytes("enter", false)]).toEqual(["\u001b", "\r"]);
});

test("a letter with Ctrl is its control character; others stay unchanged", () => {
  expect([withCtrl("c"), withCtrl("C"), withCtrl("["), withCtrl(" ")]).toEqual([
    "\u0003",
    "\u0003",
    "\u001b",
    "\u0000",
  ]);
  expect([withCtrl("ab"), withCtrl("7"), withCtrl("\u001b[A")]).toEqual(["ab", "7", "\u001b[A"]);
});
