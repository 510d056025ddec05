/** JSON-RPC 2.0 over lines, in both directions. It knows nothing about methods. */
import { LineSplitter } from "./lines.ts";

export type Params = Record<string, unknown>;

export interface PeerHandlers {
  write(line: string): void;
  /** The result of a request; `undefined` if there is no such method, null if the request gets no response. */
  answer(method: string, params: Params, id: Id): Promise<object | null> | undefined;
  notified(method: string, params: Params): void;
}

export class RpcError extends Error {
  readonly code: number;
  readonly data: object | undefined;

  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const invalidParams = -32602;
export const internalError = -32603;
const parseError = -32700;
const invalidRequest = -32600;
const methodNotFound = -32601;

/** Twice the largest prompt that Holdfast sends. */
const maxLineBytes = 64 * 1024 * 1024;

export type Id = string | number | null;

export class JsonRpcPeer {
  readonly #handlers: PeerHandlers;
  readonly #lines = new LineSplitter(maxLineBytes);
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>();
  /** From 0 in each process, as most agents count: a client must not take them for unique. */
  #nextId = 0;

  constructor(handlers: PeerHandlers) {
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    for (const line of this.#lines.push(chunk)) {
      if (line.line === "oversized") this.#refuse(null, new RpcError(invalidRequest, "The line is too long"));
      else if (line.text.trim() !== "") this.#take(line.text);
    }
  }

  notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  request(method: string, params: object): Promise<unknown> {
    const id = this.#nextId++;
    const answer = Promise.withResolvers<unknown>();
    this.#open.set(id, answer);
    this.#send({ id, method, params });
    return answer.promise;
  }

  #take(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      this.#refuse(null, new RpcError(parseError, "The line is not JSON"));
      return;
    }
    if (!isObject(message)) this.#refuse(null, new RpcError(invalidRequest, "A message is an object"));
    else if (typeof message["method"] !== "string") this.#settle(message);
    else if (message["id"] === undefined) this.#handlers.notified(message["method"], paramsOf(message));
    else void this.#answer(message["id"] as Id, message["method"], paramsOf(message));
  }

  /** The first response counts; a response to an unknown or settled request is ignored. */
  #settle(message: Params): void {
    const id = message["id"] as number;
    const open = this.#open.get(id);
    this.#open.delete(id);
    const error = message["error"];
    if (isObject(error)) open?.reject(new RpcError(Number(error["code"]), String(error["message"])));
    else open?.resolve(message["result"]);
  }

  async #answer(id: Id, method: string, params: Params): Promise<void> {
    try {
      const result = this.#handlers.answer(method, params, id);
      if (result === undefined) throw new RpcError(methodNotFound, `Method not found: ${method}`);
      const value = await result;
      if (value !== null) this.#send({ id, result: value });
    } catch (error) {
      this.#refuse(id, error instanceof RpcError ? error : new RpcError(internalError, String(error)));
    }
  }

  #refuse(id: Id, { code, message, data }: RpcError): void {
    this.#send({ id, error: { code, message, ...(data === undefined ? {} : { data }) } });
  }

  #send(message: object): void {
    this.#handlers.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

function paramsOf(message: Params): Params {
  return isObject(message["params"]) ? message["params"] : {};
}

function isObject(value: unknown): value is Params {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
