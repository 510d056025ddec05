import { expect, test } from "vitest";
import { JsonRpcPeer, RpcError } from "./json-rpc.ts";

function peer() {
  const sent: unknown[] = [];
  const heard: string[] = [];
  const rpc = new JsonRpcPeer({
    write: (line) => void sent.push(JSON.parse(line)),
    answer: (method, params) => (method === "echo" ? Promise.resolve(params) : undefined),
    notified: (method) => void heard.push(method),
  });
  return { rpc, sent, heard };
}

const settled = (): Promise<void> => new Promise((resume) => void setImmediate(resume));

test("[DEMO-11] a request that arrives in two pieces is answered once, wherever it is cut, with its own id", async () => {
  const line = Buffer.from(
    `${JSON.stringify({ jsonrpc: "2.0", id: "hf:1:é", method: "echo", params: { text: "ä→😀" } })}\n`,
  );
  for (let cut = 0; cut <= line.length; cut++) {
    const { rpc, sent } = peer();
    rpc.push(line.subarray(0, cut));
    rpc.push(line.subarray(cut));
    await settled();
    expect([cut, sent]).toEqual([cut, [{ jsonrpc: "2.0", id: "hf:1:é", result: { text: "ä→😀" } }]]);
  }
});

test.each([
  ["an unknown method", '{"jsonrpc":"2.0","id":7,"method":"no/such"}', 7, -32601],
  ["an inherited name", '{"jsonrpc":"2.0","id":7,"method":"toString"}', 7, -32601],
  ["no JSON", '{"jsonrpc":', null, -32700],
  ["a batch", "[]", null, -32600],
])("[DEMO-11] %s is refused, and the next request is answered", async (_, line, id, code) => {
  const { rpc, sent } = peer();
  rpc.push(Buffer.from(`${line}\n\n{"jsonrpc":"2.0","id":8,"method":"echo"}\n`));
  await settled();
  expect(sent).toMatchObject([
    { id, error: { code } },
    { id: 8, result: {} },
  ]);
});

test("[DEMO-11] unknown notifications and unexpected responses are ignored", async () => {
  const { rpc, sent, heard } = peer();
  rpc.push(Buffer.from('{"jsonrpc":"2.0","method":"_x"}\n{"jsonrpc":"2.0","id":99,"result":{}}\n{"jsonrpc":"2.0"}\n'));
  await settled();
  expect([sent, heard]).toEqual([[], ["_x"]]);
});

test("[DEMO-11] the first answer to a question counts", async () => {
  const { rpc } = peer();
  const [first, second] = [rpc.request("ask", {}), rpc.request("ask", {})];
  rpc.push(Buffer.from('{"jsonrpc":"2.0","id":0,"result":"yes"}\n{"jsonrpc":"2.0","id":0,"result":"no"}\n'));
  rpc.push(Buffer.from('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}\n'));
  expect(await first).toBe("yes");
  await expect(second).rejects.toEqual(new RpcError(-32601, "what?"));
});
