import { refuse } from '../../access/problem.ts'
import type { AboutRun, DeskAnswers, DeskCommands, PageTurn } from '../desk/desk-command.ts'
import type { LiveSession } from '../live-session.ts'
import { about, beginForPerson } from './begin.ts'
import { askedOf } from './client-ask.ts'

/** Begins the run that a page asks for. What the page knows by an id that the session never had is new. Refuses with 409 what the conversation has left. */
export async function takeTurn(live: LiveSession, { message, messageId, isAgain, ask }: PageTurn): Promise<AboutRun> {
  const { messages } = await live.agent()
  const known = [messageId, message?.id].find((id) => id !== undefined && messages.some((each) => each.id === id))
  if (isAgain) {
    if (known !== undefined)
      return about(await beginForPerson(live, (agent) => agent.regenerate({ messageId: known, ...askedOf(ask, agent) })))
    if (message === undefined || (await live.recorded.wasSaid(message.id))) refuseStale()
  }
  if (message === undefined) refuseStale()
  // Also what was sent before and whose answer was lost: it is not said twice.
  const said = messages.find(({ id }) => id === (messageId ?? message.id))
  if (said?.role === 'user') return about(await beginForPerson(live, (agent) => agent.editAndResend(said.id, message, askedOf(ask, agent))))
  return about(await beginForPerson(live, (agent) => agent.prompt(message, askedOf(ask, agent))))
}

/** Says something that was not said before, else joins the run that is on or was the last. Refuses with 409 where there is none. */
export async function sayOrJoin(live: LiveSession, { message, ask }: DeskCommands['join']): Promise<DeskAnswers['join']> {
  if (message !== undefined && !(await isSaid(live, message.id))) {
    const run = await beginForPerson(live, (agent) => agent.prompt(message, askedOf(ask, agent)))
    return { ...about(run), isJoined: false }
  }
  // A client whose connection was lost asks once more.
  const run = await live.latestRun()
  if (run === undefined) refuse(409, 'nothingToContinue', 'No run is on. Send a message of the user with a new id.')
  return { ...about(run), isJoined: true }
}

async function isSaid(live: LiveSession, messageId: string): Promise<boolean> {
  return (await live.agent()).messages.some(({ id }) => id === messageId)
}

function refuseStale(): never {
  refuse(409, 'nothingToContinue', 'This message is no longer part of the conversation, which has gone on elsewhere. Reload the page.')
}
