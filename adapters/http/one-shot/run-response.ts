import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFlag, anything, aPositiveNumber, type Infer, listOf, oneOf, options as optionsOf } from '../../../src/contract/shape/shape.ts'
import type { AgentMessage, AgentRun } from '../../../src/index.ts'
import { agUiEncoder, agUiHeaders } from '../../../src/ui/ag-ui.ts'
import { uiMessageEncoder, uiMessageStreamHeaders } from '../../../src/ui/ai-sdk.ts'
import { RunEvents } from '../live/gateway/run-events.ts'
import { agUiFrames, type FrameWriter, nativeFrames, uiMessageFrames } from '../stream/frame-writer.ts'
import { sseHeaders } from '../stream/run-stream.ts'
import { defaultPingMs, sseStream } from '../stream/sse-stream.ts'

const protocol = oneOf('native', 'aiSdk', 'agUi')

/** Options for `runResponse`. */
export interface RunResponseOptions {
  /** The client's protocol. Default: `native`, the compact events that `eventDecoder` reads. */
  protocol?: Infer<typeof protocol>
  /** The conversation before the run, for `aiSdk` and `agUi`, because the run may continue its last response. */
  history?: readonly AgentMessage[]
  /** Whether the run stops when its client disconnects. Default: `true`, because no client can reconnect to it. */
  stopOnLeave?: boolean
  /** Whether to send `turnRequest` events. They contain the system prompt and the whole request. Default: `false`. */
  turnRequests?: boolean
  /** Milliseconds between pings on an idle connection. Default: 15,000. */
  pingMs?: number
}

const runResponseOptions = optionsOf<RunResponseOptions>({
  protocol,
  history: listOf(anything),
  stopOnLeave: aFlag,
  turnRequests: aFlag,
  pingMs: aPositiveNumber,
})

/**
 * Creates a route handler's `Response` from a run, for Next.js, SvelteKit, React Router, Hono, and others.
 *
 * **Contract**
 * - Streams the run live. For a slow client, the run merges deltas. The server does not buffer them.
 * - Does not authenticate the caller. Authenticate before you start the run.
 * - Throws `ConfigError` `invalidOption` for an invalid option. The run then continues.
 *
 * Source: docs/guides/serve-over-http.md
 *
 * @example
 * ```ts
 * export const POST = async (request: Request) => runResponse(agent.prompt(await request.text()))
 * ```
 */
export function runResponse(run: AgentRun, options: RunResponseOptions = {}): Response {
  checkOptions(options, runResponseOptions)
  const { protocol = 'native', history = [], stopOnLeave = true, turnRequests = false, pingMs = defaultPingMs } = options
  const onCancel = (reason: unknown) => (stopOnLeave ? run.abort(reason) : undefined)
  const { writer, headers } = speaking(protocol, { history, turnRequests })
  return new Response(sseStream(new RunEvents(run), { writer, pingMs, onCancel }), { headers })
}

function speaking(
  protocol: NonNullable<RunResponseOptions['protocol']>,
  { history, turnRequests }: Required<Pick<RunResponseOptions, 'history' | 'turnRequests'>>,
): { writer: FrameWriter; headers: Readonly<Record<string, string>> } {
  switch (protocol) {
    case 'aiSdk':
      return { writer: uiMessageFrames(uiMessageEncoder({ history })), headers: uiMessageStreamHeaders }
    case 'agUi':
      return { writer: agUiFrames(agUiEncoder({ history })), headers: agUiHeaders }
    case 'native':
      return { writer: nativeFrames({ turnRequests }), headers: sseHeaders }
  }
}
