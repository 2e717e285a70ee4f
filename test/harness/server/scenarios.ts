/** What a model says in one turn, before any protocol encodes it. */
export interface Turn {
  /** Text deltas, sent one by one. */
  text: string[]
  calls?: { id: string; name: string; arguments: Record<string, unknown> }[]
}

/** How one request is answered. */
export type Reply =
  | { status: number; message: string }
  | {
      turn: Turn
      /** Stop after the first text delta, until `/release<base>` or for good. */
      pause?: 'untilReleased' | 'forever'
      /** Send the bytes in random fragments and break off after `permille` of them (1000: never). */
      cut?: { permille: number; seed: number }
      /** Flip a bit of the byte that stands after so many permille of the bytes. */
      damageAt?: number
    }

/** One wire protocol: a small file of its own beside this one. */
export interface Protocol {
  /** What follows the base in a request's path. */
  endpoint: string
  /** Default: `text/event-stream`. */
  contentType?: string
  /** The turn as events, one text or one run of bytes each. */
  frames(turn: Turn): (string | Uint8Array)[]
  /** The body of a failure. */
  failure(message: string): string
  /** Texts of the tool results that stand after the last assistant message. */
  toolResults(body: unknown): string[]
}

/** What a scenario may look at. */
export interface ScenarioRequest {
  /** Path segments after the scenario's name. */
  parameters: string[]
  /** 1 for the first request of this base. */
  attempt: number
  toolResults: string[]
}

const greeting: Turn = { text: ['Hello', ', ', 'world', '.'] }

function addThenReport(request: ScenarioRequest, args: Record<string, unknown>): Turn {
  if (request.toolResults.length > 0) return { text: ['The tool said: ', `${request.toolResults.join(' / ')}.`] }
  return { text: ['I add.'], calls: [{ id: 'call_add_1', name: 'add', arguments: args }] }
}

/** Every scenario, by the name it has in the path. */
export const scenarios: Record<string, (request: ScenarioRequest) => Reply> = {
  text: () => ({ turn: greeting }),
  /** Calls `add`, then says what came back. */
  tool: (request) => ({ turn: addThenReport(request, { a: 2, b: 3 }) }),
  /** As `tool`, with an argument of the wrong type. */
  'bad-tool': (request) => ({ turn: addThenReport(request, { a: 'two', b: 3 }) }),
  /** `damaged/<permille>`: for protocols with checksums. */
  damaged: ({ parameters }) => ({ turn: greeting, damageAt: Number(parameters[0]) }),
  slow: () => ({ turn: greeting, pause: 'untilReleased' }),
  hang: () => ({ turn: greeting, pause: 'forever' }),
  /** Overloaded once, then fine. */
  'error-529': (request) => (request.attempt === 1 ? { status: 529, message: 'Overloaded' } : { turn: greeting }),
  /** `cut/<permille>/<seed>`: as `tool`, but the first answer is broken off. */
  cut: (request) => {
    const turn = addThenReport(request, { a: 2, b: 3 })
    if (request.toolResults.length > 0) return { turn }
    const [permille, seed] = request.parameters
    return { turn, cut: { permille: Number(permille), seed: Number(seed) } }
  },
}
