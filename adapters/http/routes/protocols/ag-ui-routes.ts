import type { AgentRun } from '../../../../src/index.ts'
import { isEqualJson } from '../../../../src/internal.ts'
import { agUiEncoder, agUiHeaders, type RunInput, readRunInput } from '../../../../src/ui/ag-ui/index.ts'
import { isObject, readJsonObject } from '../../access/body.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../../live/live-session.ts'
import { agUiFrames, type IsSeen } from '../../stream/frame-writer.ts'
import { eventStream, waitsForPerson } from '../../stream/run-stream.ts'
import { askedIn } from '../client-settings.ts'
import type { SessionApp, SessionRouteOptions } from '../route-options.ts'
import { beginForPerson } from './begin-for-person.ts'
import { LinkedMedia } from './linked-media.ts'
import { settle, untilResolved } from './settle.ts'

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
    const forwarded = isObject(body.forwardedProps) ? body.forwardedProps : {}
    const asked = askedIn(forwarded, options.clientSettings, input.tools)
    options.streams.assertRoom(c.env.live.caller)
    const { live } = c.env
    await takeState(live, input)
    const { run, isSeen, restate = false } = await runFor(live, input, asked)
    const { threadId, runId } = input
    const media = new LinkedMedia(live, options.mediaBase)
    const history = await media.messages(live.historyBefore(run))
    const sharedState = await live.sharedState()
    const encoder = agUiEncoder({ history, restate, threadId, runId, ...(sharedState !== undefined && { sharedState }) })
    return eventStream(
      run,
      { ...options, live },
      { writer: agUiFrames(encoder, isSeen), headers: agUiHeaders, waits: waitsForPerson(run), tell: media.tell },
    )
  })
}

/**
 * What the page has made of the shared state, if anything. It is taken before the message: tools of the run find it. Refuses with 400 `invalidState`, and with 409 `stateConflict` what
 * was made of another version, or does not say of which.
 */
async function takeState(live: LiveSession, { state }: RunInput): Promise<void> {
  if (state === undefined || state.isAsShown) return
  const { sharedState } = await live.agent()
  // Clients of an agent that shares nothing may keep a state of their own.
  if (sharedState === undefined || isEqualJson(state.value, sharedState.value)) return
  const { value, version = 0 } = state
  if (state.version === undefined && sharedState.version > 0)
    refuse(
      409,
      'stateConflict',
      'state has been changed, and its $version does not say what it was made of. Keep $version of the last STATE_SNAPSHOT in it.',
    )
  await sharedState.set(value, { ifVersion: version, by: 'client' })
}

/** The run that an input is about, and how much of it its client has. */
async function runFor(
  live: LiveSession,
  { message, decisions, results }: RunInput,
  asked: ReturnType<typeof askedIn>,
): Promise<{ run: AgentRun; isSeen?: IsSeen; restate?: boolean }> {
  const isSaid = message !== undefined && (await live.agent()).messages.some(({ id }) => id === message.id)
  if (decisions.length + results.length > 0) {
    const run = await settle(live, { decisions, results })
    // Where it cannot be stored, the run says so with its end.
    if (message !== undefined && !isSaid) await run.followUp(message).stored.catch(() => undefined)
    return { run, isSeen: untilResolved([...decisions, ...results]) }
  }
  if (message !== undefined && !isSaid) return { run: await beginForPerson(live, (agent) => agent.prompt(message, asked(agent))) }
  // A client whose connection was lost asks once more.
  const run = await live.latestRun()
  if (run === undefined) refuse(409, 'nothingToContinue', 'No run is on. Send a message of the user with a new id.')
  return { run, restate: true }
}
