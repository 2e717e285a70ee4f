import { isJsonObject } from '../../../../src/contract/json.ts'
import { agUiEncoder, agUiHeaders, agUiSse, agUiStanding, readRunInput } from '../../../../src/ui/ag-ui.ts'
import { readJsonObject } from '../../access/body.ts'
import { refuse } from '../../access/problem.ts'
import type { SessionGateway } from '../../live/gateway/session-gateway.ts'
import { agUiFrames, untilResolved } from '../../stream/frame-writer.ts'
import { eventStream } from '../../stream/run-stream.ts'
import { askedIn } from '../client-settings.ts'
import { keyOf } from '../prompt-body.ts'
import type { SessionApp, SessionRouteOptions } from '../route-options.ts'
import { mediaFormOf } from './own-media.ts'

/**
 * Adds `POST /agui`, which accepts a `RunAgentInput` from AG-UI clients. A pending approval becomes an interrupt. The next request contains
 * the decision, and the run continues.
 *
 * Source: docs/reference/ui-protocols.md
 */
export function addAgUiRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.post('/agui', async (c) => {
    const body = await readJsonObject(c, options.body)
    const { value: input, problem } = readRunInput(body)
    if (input === undefined) refuse(400, 'invalidBody', problem)
    const forwarded = isJsonObject(body.forwardedProps) ? body.forwardedProps : {}
    const ask = askedIn(forwarded, options.clientSettings, input.tools)
    const { gateway } = c.env
    options.streams.assertRoom(gateway.caller)
    const { state, threadId, runId } = input
    // Apply the state before the message, so that the run's tools see it.
    if (state !== undefined && !state.isAsShown) await gateway.command({ type: 'takeState', value: state.value, version: state.version })
    const { message, decisions, results } = input
    const key = keyOf(c)
    const { run, isJoined, since, replyTo } = await gateway.command({
      type: 'turn',
      message,
      decisions,
      results,
      isNumbered: true,
      isAgain: false,
      ask,
      key,
    })
    const shared = await gateway.read.state()
    const named = { threadId, runId, ...(shared !== undefined && { sharedState: shared }) }
    if (run === undefined) return standing(gateway, options, named)
    const source = await gateway.events(run, mediaFormOf(options))
    const history = await source.historyBefore()
    // A client that receives the whole conversation also needs its own results.
    const sentResults = isJoined ? [] : results.map(({ toolCallId }) => toolCallId)
    const encoder = agUiEncoder({ ...named, history, restate: isJoined, sentResults, ...(replyTo !== undefined && { replyTo }) })
    const isSeen = since === undefined || isJoined ? undefined : untilResolved(since)
    return eventStream(source, { ...options, caller: gateway.caller }, { writer: agUiFrames(encoder, isSeen), headers: agUiHeaders })
  })
}

/** Returns the current conversation as a complete response. */
async function standing(
  gateway: SessionGateway,
  options: SessionRouteOptions,
  named: Parameters<typeof agUiStanding>[0],
): Promise<Response> {
  const { messages: history, approvals, clientCalls } = await gateway.read.history({ media: mediaFormOf(options) })
  const events = agUiStanding({ ...named, history, approvals, clientCalls })
  return new Response(events.map(agUiSse).join(''), { headers: { ...agUiHeaders, 'x-content-type-options': 'nosniff' } })
}
