/** Calls of the generated services: with a key, a deadline, a request id, retries, and errors of their own. */
import { randomUUID } from "node:crypto";

import { Client, Metadata, type ServiceError } from "@grpc/grpc-js";

import { errorOf, StemmaError } from "./errors.js";
import { Times, type Retries } from "./retries.js";

interface Kind<Message, Partial> {
  encode(message: Message): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
  fromPartial(partial: Partial): Message;
}

interface Method {
  readonly name: string;
  // What a message is differs from method to method; Service below says which.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly requestType: Kind<any, any>;
  readonly requestStream: boolean;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly responseType: Kind<any, any>;
  readonly responseStream: boolean;
}

export interface Definition {
  readonly fullName: string;
  readonly methods: { readonly [name: string]: Method };
}

type Asked<M extends Method> = Parameters<M["requestType"]["fromPartial"]>[0];
type Answer<M extends Method> = ReturnType<M["responseType"]["decode"]>;

/** `timeout` is in milliseconds; without it the client's, and an hour for what streams. */
export interface CallOptions {
  timeout?: number;
}

/** The methods of a service that take one request: those that answer once are awaited, the others iterated. */
export type Service<D extends Definition> = {
  [N in keyof D["methods"] as D["methods"][N]["requestStream"] extends true ? never : N]: (
    request: Asked<D["methods"][N]>,
    options?: CallOptions,
  ) => D["methods"][N]["responseStream"] extends true
    ? AsyncGenerator<Answer<D["methods"][N]>, void, undefined>
    : Promise<Answer<D["methods"][N]>>;
};

export const STREAM_TIMEOUT = 3_600_000;

export class Caller {
  constructor(
    private readonly apiKey: string,
    private readonly timeout: number,
    readonly retries: Retries,
  ) {}

  /** The service behind a channel. */
  service<D extends Definition>(client: Client, definition: D): Service<D> {
    const made: Record<string, unknown> = {};
    for (const [name, method] of Object.entries(definition.methods)) {
      const path = `/${definition.fullName}/${method.name}`;
      made[name] = method.responseStream
        ? (request: object, { timeout = STREAM_TIMEOUT }: CallOptions = {}) =>
            this.streamed(client, path, method, request, timeout)
        : (request: object, { timeout = this.timeout }: CallOptions = {}) =>
            this.unary(client, path, method, request, timeout);
    }
    return made as Service<D>;
  }

  private async unary(client: Client, path: string, method: Method, partial: object, timeout: number) {
    const request = withRequestId(method.requestType.fromPartial(partial));
    const times = new Times(timeout, this.retries);
    for (;;) {
      try {
        return await new Promise((resolve, reject) => {
          const options = { deadline: Date.now() + times.left() };
          const answered = (error: ServiceError | null, answer?: unknown) =>
            error ? reject(errorOf(error)) : resolve(answer);
          client.makeUnaryRequest(path, encoder(method), decoder(method), request, this.metadata(), options, answered);
        });
      } catch (error) {
        if (!(error instanceof StemmaError)) throw error;
        await times.wait(error);
      }
    }
  }

  /** The answers as they come, without a second try: whoever knows how to go on does so. */
  private async *streamed(client: Client, path: string, method: Method, partial: object, timeout: number) {
    const request = withRequestId(method.requestType.fromPartial(partial));
    const options = { deadline: Date.now() + timeout };
    const call = client.makeServerStreamRequest(
      path, encoder(method), decoder(method), request, this.metadata(), options,
    );
    try {
      yield* call;
    } catch (error) {
      throw isServiceError(error) ? errorOf(error) : error;
    } finally {
      // Whoever stops reading ends the call; what it fails with then is nobody's business.
      call.on("error", () => undefined);
      call.cancel();
    }
  }

  private metadata(): Metadata {
    const made = new Metadata();
    if (this.apiKey) made.set("authorization", `Bearer ${this.apiKey}`);
    return made;
  }
}

/** The request; a copy with a new id when it should have one and has none. */
export function withRequestId<T extends object>(request: T): T {
  return "requestId" in request && request.requestId === "" ? { ...request, requestId: randomUUID() } : request;
}

const encoder = (method: Method) => (message: unknown) => Buffer.from(method.requestType.encode(message).finish());
const decoder = (method: Method) => (bytes: Buffer) => method.responseType.decode(bytes) as unknown;

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error;
}
