import { importSession } from '../../../../src/session/index.ts'
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
import type { AboutRun, DeskAnswers, DeskCommand, DeskCommands, DeskCommandType } from './desk-command.ts'
import { LiveReads } from './live-reads.ts'
import { followedEvents, runEvents } from './run-events.ts'
import type { SessionDesk } from './session-desk.ts'

/** What does each command, where its session is. */
const ways: { readonly [Type in DeskCommandType]: (live: LiveSession, command: DeskCommand<Type>) => Promise<DeskAnswers[Type]> } = {
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
    if (!(await live.recorded.isKnown()) && !(await live.isRunning())) throw new ProblemError(unknownSession)
    await live.stop()
    return {}
  },
  rename: async (live, { title }) => {
    if (!(await live.recorded.isKnown())) throw new ProblemError(unknownSession)
    await (await live.agent()).rename(title)
    return {}
  },
  changeState: async (live, change) => {
    if (!(await live.recorded.isKnown())) throw new ProblemError(unknownSession)
    return changeState(live, change)
  },
  takeState: async (live, state) => {
    await takeState(live, state)
    return {}
  },
  import: async (live, { text, replace }) => {
    // It goes on from there.
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

/** Does what a command asks of a session. */
function carryOut<Type extends DeskCommandType>(live: LiveSession, command: DeskCommand<Type>): Promise<DeskAnswers[Type]> {
  return ways[command.type](live, command)
}

/** An answer goes to the call, and is kept nowhere. */
async function answerInput(live: LiveSession, { inputId, answer }: DeskCommands['answerInput']): Promise<AboutRun> {
  const run = await live.continuedRun()
  if (run === undefined || !run.pendingInputs().some((pending) => pending.inputId === inputId)) {
    refuse(404, 'notFound', `No request for input ${JSON.stringify(inputId.slice(0, 100))} waits. Read which ones do from …/inputs.`)
  }
  run.answer(inputId, answer)
  return about(run)
}

/** The desk of a session that lives in this process: what its host gives to routes. */
export function sessionDesk(live: LiveSession): SessionDesk {
  const { sessionId, caller } = live
  return {
    sessionId,
    caller,
    command: (command) => carryOut(live, command),
    events: (place, media = 'bytes') => runEvents(live, place, media),
    follow: (place, media = 'bytes') => followedEvents(live, place, media),
    read: new LiveReads(live),
  }
}
