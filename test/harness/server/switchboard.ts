/** What one base has seen: the bodies it received, its open streams, and who waits for what. */
export interface Line {
  bodies: unknown[]
  open: number
  released: boolean
  whenReleased: (() => void)[]
  whenIdle: (() => void)[]
}

/** The state of the fixture server, one line per base, so that tests cannot disturb each other. */
export class Switchboard {
  /** Over all bases. */
  #paused = 0
  readonly #whenNonePaused: (() => void)[] = []
  readonly #lines = new Map<string, Line>()

  line(base: string): Line & { board: Switchboard } {
    let line = this.#lines.get(base)
    if (!line) {
      line = { bodies: [], open: 0, released: false, whenReleased: [], whenIdle: [] }
      this.#lines.set(base, line)
    }
    return Object.assign(line, { board: this })
  }

  /** Remembers a request; returns how many that base has now seen. */
  record(base: string, body: unknown): number {
    return this.line(base).bodies.push(body)
  }

  bodies(base: string): unknown[] {
    return this.line(base).bodies
  }

  /** Returns how many streams were waiting. */
  release(base: string): number {
    const line = this.line(base)
    line.released = true
    const waiting = line.whenReleased.splice(0)
    for (const go of waiting) go()
    return waiting.length
  }

  /** Counts a stream as paused until `end` resolves. */
  async pause(end: Promise<void>): Promise<void> {
    this.#paused++
    await end
    this.#paused--
    if (this.#paused === 0) for (const tell of this.#whenNonePaused.splice(0)) tell()
  }

  async nonePaused(): Promise<'none paused'> {
    if (this.#paused > 0) await new Promise<void>((resolve) => this.#whenNonePaused.push(resolve))
    return 'none paused'
  }

  async idle(base: string): Promise<'idle'> {
    const line = this.line(base)
    if (line.open > 0) await new Promise<void>((resolve) => line.whenIdle.push(resolve))
    return 'idle'
  }
}
