/** Every scenario by name. */
import { faults } from "./faults.ts";
import type { Scenario } from "./report.ts";
import { chat } from "./scenarios/chat.ts";
import { intents } from "./scenarios/intents.ts";
import { permissions } from "./scenarios/permissions.ts";
import { children, syscalls } from "./scenarios/syscalls.ts";
import { terminal } from "./scenarios/terminal.ts";

export const scenarios: readonly Scenario[] = [intents, chat, terminal, permissions, syscalls, children, ...faults];
