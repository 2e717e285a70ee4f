import { isJsonObject } from '../../../../src/internal.ts'
import { agUiEncoder, agUiHeaders, type RunInput, readRunInput } from '../../../../src/ui/ag-ui/index.ts'
import { readJsonObject } from '../../access/body.ts'
import { refuse } from '../../access/problem.ts'
import type { ClientAsk } from '../../live/commands/client-ask.ts'
import type { SessionDesk } from '../../live/desk/session-desk.ts'
import type { RunPlace } from '../../stream/event-source.ts'
import { agUiFrames, type IsSeen } from '../../stream/frame-writer.ts'
import { eventStream } from '../../stream/run-stream.ts'
import { untilResolved } from '../../stream/until-resolved.ts'
import { askedIn } from '../client-settings.ts'
import type { SessionApp, SessionRouteOptions } from '../route-options.ts'
import { mediaFormOf } from './own-media.ts'

/**
 * What a client of AG-UI asks for: `POST /agui` with a `RunAgentInput`. A run that waits for a person is told as an interrupt; the next request
 * brings the decision, and the run goes on.
 *
 * Source: docs/concepts/ui-protocols.md
 */
export function addAgUiRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.post('/agui', async (c) => {
    const body = await readJsonObject(c, options.body)
    const { value: input, problem } = readRunInput(body)
    if (input === undefined) refuse(400, 'invalidBody', problem)
    const forwarded = isJsonObject(body.forwardedProps) ? body.forwardedProps : {}
    const ask = askedIn(forwarded, options.clientSettings, input.tools)
    const { desk } = c.env
    options.streams.assertRoom(desk.caller)
    const { state, threadId, runId } = input
    // Before the message: tools of the run find it.
    if (state !== undefined && !state.isAsShown) await desk.command({ type: 'takeState', value: state.value, version: state.version })
    const { run, isSeen, restate = false } = await runFor(desk, input, ask)
    const source = await desk.events(run, mediaFormOf(options))
    const history = await source.historyBefore()
    const sharedState = await desk.read.state()
    const encoder = agUiEncoder({ history, restate, threadId, runId, ...(sharedState !== undefined && { sharedState }) })
    return eventStream(source, { ...options, caller: desk.caller }, { writer: agUiFrames(encoder, isSeen), headers: agUiHeaders })
  })
}

/** The run that an input is about, and how much of it its client has. */
async function runFor(
  desk: SessionDesk,
  { message, decisions, results }: RunInput,
  ask: ClientAsk,
): Promise<{ run: RunPlace; isSeen?: IsSeen; restate?: boolean }> {
  if (decisions.length + results.length > 0) {
    const run = await desk.command({ type: 'settle', decisions, results, messages: message === undefined ? [] : [message] })
    return { run, isSeen: untilResolved([...decisions, ...results]) }
  }
  const { isJoined, ...run } = await desk.command({ type: 'join', message, ask })
  return { run, restate: isJoined }
}
