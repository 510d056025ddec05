import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestApi, temporaryDirectory, type TestApi } from "./api.fixture.ts";

let directory: string;
let it: TestApi;
const noToken = { headers: { authorization: undefined } };

beforeAll(async () => {
  directory = temporaryDirectory();
  const web = join(directory, "web");
  mkdirSync(join(web, "assets"), { recursive: true });
  writeFileSync(join(web, "index.html"), "<!doctype html>home");
  writeFileSync(join(web, "assets", "app-Bx3kd92_.js"), "export {};");
  writeFileSync(join(web, "assets", "app-Bx3kd92_.js.br"), "BR");
  writeFileSync(join(web, "assets", "app-Bx3kd92_.js.gz"), "GZIP");
  writeFileSync(join(web, "sw.js"), "self;");
  writeFileSync(join(web, "favicon.svg"), "<svg/>");
  writeFileSync(join(web, "empty.txt"), "");
  writeFileSync(join(web, ".hidden"), "hidden");
  writeFileSync(join(directory, "secret"), "secret");
  mkdirSync(join(directory, "web-other"));
  writeFileSync(join(directory, "web-other", "x"), "secret");
  symlinkSync(join(directory, "secret"), join(web, "link.txt"));
  it = await openTestApi({ webDirectory: web });
});
afterAll(async () => {
  await it.close();
  rmSync(directory, { recursive: true, force: true });
});

test("[API-16] the dashboard's files are served without a token, with type and cache rules", async () => {
  const index = await it.tcp("GET", "/", noToken);
  expect(index.text).toBe("<!doctype html>home");
  expect(index.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(index.headers["cache-control"]).toBe("no-cache");
  expect(index.headers["content-security-policy"]).toContain("default-src 'none'");
  const script = await it.tcp("GET", "/assets/app-Bx3kd92_.js", noToken);
  expect(script.text).toBe("export {};");
  expect(script.headers["content-type"]).toBe("text/javascript; charset=utf-8");
  expect(script.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  expect((await it.tcp("GET", "/favicon.svg", noToken)).headers["content-type"]).toBe("image/svg+xml");
  expect((await it.tcp("GET", "/empty.txt", noToken)).status).toBe(200);
  const head = await it.tcp("HEAD", "/", noToken);
  expect([head.status, head.headers["content-length"], head.text]).toEqual([200, "19", ""]);
});

test("[API-19] a file that the build packed is sent packed to whoever takes that, and plain to others", async () => {
  const get = (path: string, encoding?: string) =>
    it.tcp("GET", path, { headers: { ...noToken.headers, "accept-encoding": encoding } });
  const script = "/assets/app-Bx3kd92_.js";
  const packed = await get(script, "gzip, deflate, br");
  expect([packed.text, packed.headers["content-encoding"]]).toEqual(["BR", "br"]);
  expect(packed.headers["content-type"]).toBe("text/javascript; charset=utf-8");
  expect(packed.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  expect([packed.headers["vary"], packed.headers["content-length"]]).toEqual(["Accept-Encoding", "2"]);
  expect((await get(script, "gzip;q=1.0, br;q=0")).headers["content-encoding"]).toBe("gzip");
  const plain = await get(script);
  expect([plain.text, plain.headers["content-encoding"], plain.headers["vary"]]).toEqual([
    "export {};",
    undefined,
    "Accept-Encoding",
  ]);
  expect((await get("/favicon.svg", "br")).headers["content-encoding"]).toBeUndefined();
  // A worker that is cached for a year could never be replaced.
  expect((await get("/sw.js", "br")).headers["cache-control"]).toBe("no-cache");
  expect((await get("/sw.js")).headers["content-security-policy"]).toContain("worker-src 'self'; manifest-src 'self'");
});

test("[API-16] an address inside the dashboard opens its page, for a browser that navigates", async () => {
  const headers = { ...noToken.headers, accept: "text/html,*/*" };
  expect((await it.tcp("GET", "/session/ma-1", { headers })).text).toBe("<!doctype html>home");
  expect((await it.tcp("GET", "/session/ma-1", noToken)).status).toBe(404);
});

const escapes = [
  "/../secret",
  "/..%2fsecret",
  "/%2e%2e/secret",
  "/%2e%2e%2fsecret",
  "/assets/../../secret",
  "/assets/%2e%2e/%2e%2e/secret",
  "/../web-other/x",
  "/..\\secret",
  "/%5c..%5csecret",
  "//secret",
  "/secret%00.html",
  "/.hidden",
  "/link.txt",
  "/assets",
  "/%zz",
];
test.each(escapes)("[API-17] %s leaves the directory by no way", async (path) => {
  const answer = await it.tcp("GET", path, noToken);
  expect(answer.text).not.toContain("secret\n");
  expect(answer.status).toBe(404);
  expect(answer.json.error?.message).toContain("Not found: GET ");
});

test("[API-16] without a built dashboard / says so", async () => {
  const bare = await openTestApi();
  try {
    const answer = await bare.tcp("GET", "/", noToken);
    expect(answer.status).toBe(404);
    expect(answer.json.error?.hint).toBe("This daemon was built without the dashboard.");
  } finally {
    await bare.close();
  }
});
