import { importSession } from '../../../../src/session.ts'
import { ProblemError, refuse, unknownSession } from '../../access/problem.ts'
import { about, begin } from '../commands/begin.ts'
import { changeState, takeState } from '../commands/change-state.ts'
import { answerClientCall, claimClientCall } from '../commands/client-calls.ts'
import { decide } from '../commands/decide.ts'
import { takeTurn } from '../commands/page-turn.ts'
import { queueMessage } from '../commands/queue-message.ts'
import { schedule, schedulesOf } from '../commands/schedule.ts'
import { settle } from '../commands/settle.ts'
import type { LiveSession } from '../live-session.ts'
import type { StartContext } from '../run-context.ts'
import type { AboutRun, GatewayCommand, GatewayCommands, GatewayCommandType, GatewayResults } from './gateway-command.ts'
import { LiveReads } from './live-reads.ts'
import { followedEvents, runEvents } from './run-events.ts'
import type { SessionGateway } from './session-gateway.ts'

/** Command handlers in the process that owns the session. */
const handlers: {
  readonly [Type in GatewayCommandType]: (
    live: LiveSession,
    command: GatewayCommand<Type>,
    start?: StartContext,
  ) => Promise<GatewayResults[Type]>
} = {
  prompt: begin,
  send: begin,
  edit: begin,
  branch: begin,
  continue: begin,
  regenerate: begin,
  compact: begin,
  turn: takeTurn,
  settle,
  steer: queueMessage,
  followUp: queueMessage,
  withdraw: async (live, { messageId }) => ({ wasWaiting: await live.queued.withdraw(messageId) }),
  decide: async (live, { type: _, ...decision }) => about(await decide(live, decision)),
  answerInput,
  claimCall: claimClientCall,
  answerCall: async (live, result) => about(await answerClientCall(live, result)),
  stop: async (live) => {
    if (!(await live.isRunning())) await assertKnown(live)
    await live.stop()
    return {}
  },
  rename: async (live, { title }) => {
    await assertKnown(live)
    await (await live.agent()).rename(title)
    return {}
  },
  changeState: async (live, change) => {
    await assertKnown(live)
    return changeState(live, change)
  },
  takeState: async (live, state) => {
    await takeState(live, state)
    return {}
  },
  import: async (live, { text, replace }) => {
    // The run continues from this point.
    await live.withLog(async (store) => {
      live.forget()
      await importSession(store, text, { replace, sessionId: live.sessionId })
    })
    return {}
  },
  delete: async (live) => ({ wasKnown: await live.delete() }),
  schedule,
  unschedule: async (live, { id }) => ({ wasThere: await schedulesOf(live).delete(id) }),
}

/** Rejects a session without messages with 404. */
async function assertKnown(live: LiveSession): Promise<void> {
  if (!(await live.recorded.isKnown())) throw new ProblemError(unknownSession)
}

/** Passes a user's input to the requesting call. Does not store the input. */
async function answerInput(live: LiveSession, { inputId, answer }: GatewayCommands['answerInput']): Promise<AboutRun> {
  const run = await live.continuedRun()
  if (run === undefined || !run.pendingInputs().some((pending) => pending.inputId === inputId)) {
    refuse(404, 'notFound', `No input request ${JSON.stringify(inputId.slice(0, 100))} is pending. See …/inputs for pending requests.`)
  }
  run.answer(inputId, answer)
  return about(run)
}

/** Creates the gateway for a session in this process. The host passes it to the routes. */
export function sessionGateway(live: LiveSession): SessionGateway {
  const { sessionId, caller } = live
  return {
    sessionId,
    caller,
    command: (command, start) => handlers[command.type](live, command, start),
    events: (place, media = 'bytes') => runEvents(live, place, media),
    follow: (place, media = 'bytes') => followedEvents(live, place, media),
    read: new LiveReads(live),
  }
}

/** Returns a gateway whose commands start runs with this context. */
export function gatewayWith({ sessionId, caller, command, events, follow, read }: SessionGateway, start: StartContext): SessionGateway {
  return { sessionId, caller, command: (given) => command(given, start), events, follow, read }
}
