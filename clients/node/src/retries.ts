/** When a call is tried again. */
import { setTimeout as sleep } from "node:timers/promises";

import type { StemmaError } from "./errors.js";

/**
 * Pauses in milliseconds: the first, and the most. Each may be twice as long as the one before, and is drawn
 * between half of that and all of it, so that many clients do not come back together.
 */
export interface Retries {
  first: number;
  most: number;
}

export const usual: Retries = { first: 100, most: 5_000 };

/** The time that a call has, and how often it was tried since it last got anywhere. */
export class Times {
  attempt = 0;
  private until: number;

  constructor(
    private readonly timeout: number,
    private readonly retries: Retries,
  ) {
    this.until = Date.now() + timeout;
  }

  /** Milliseconds; never zero. */
  left(): number {
    return Math.max(1, this.until - Date.now());
  }

  /** The whole time anew, for what goes on for ever. */
  again(): void {
    this.attempt = 0;
    this.until = Date.now() + this.timeout;
  }

  /** Waits until the next try. Throws `error` when it does not pass, or would pass too late. */
  async wait(error: StemmaError): Promise<void> {
    const grown = Math.min(this.retries.most, this.retries.first * 2 ** this.attempt);
    const pause = Math.max(error.retryAfter ?? 0, grown * (0.5 + Math.random() / 2));
    if (!error.passing || pause >= this.left()) throw error;
    this.attempt += 1;
    await sleep(pause);
  }
}
