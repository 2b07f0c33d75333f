/** What of Node's module is used on Workers, which have it under the same name. */
declare module "node:async_hooks" {
  export class AsyncLocalStorage<Value> {
    run<Result>(value: Value, work: () => Result): Result;
    getStore(): Value | undefined;
  }
}
