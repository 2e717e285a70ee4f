import type { RunStatus } from '../../../../src/index.ts'
import { SessionError } from '../../../../src/session.ts'
import type { SettableBackend } from '../backend/chat-port.ts'
import { type Conversation, createConversation } from '../conversation/conversation.ts'
import { keptWords } from '../conversation/kept-words.ts'
import type { Notices } from '../notices/notices.ts'
import { isOwnAddress } from '../selection.ts'

/** Opens conversations. */
export interface Opener {
  /** Opens a new conversation. */
  begin(sessionId?: string): Conversation
  /** Opens a stored one, optionally from `loopId`. If it cannot be opened, reports it and opens a new one. */
  read(sessionId: string, loopId?: string): Promise<Conversation>
}

interface Opening {
  backend: SettableBackend
  notices: Notices
  /** Called when a stored message was sent. */
  onPrompt: (conversation: Conversation) => void
  /** Called when a run has ended and its end is stored. */
  onEnd: (conversation: Conversation, status: RunStatus) => void
}

/** Creates an opener with callbacks for the conversations that it opens. */
export function createOpener({ backend, notices, onPrompt, onEnd }: Opening): Opener {
  function listen(conversation: Conversation): Conversation {
    const { agent } = conversation.chat
    let run = agent.currentRun
    agent.subscribe((event) => {
      run = agent.currentRun ?? run
      if (event.type === 'messageEnd' && event.message.role === 'user') onPrompt(conversation)
      // The end of a run is stored after its last event.
      if (event.type === 'agentEnd') void Promise.resolve(run?.result).then(() => onEnd(conversation, event.status))
    })
    return conversation
  }

  function begin(sessionId?: string): Conversation {
    return listen(createConversation(backend.begin(sessionId), { notices }))
  }

  async function read(sessionId: string, loopId?: string): Promise<Conversation> {
    const opened = await notices.attempt({ topic: 'open', failure: 'This conversation cannot be opened' }, async () => {
      try {
        const chat = await backend.open(sessionId, loopId)
        return listen(createConversation(chat, { notices, recorded: await chat.recorded(), loopId }))
      } catch (error) {
        // One that was never written to has no records yet.
        if (!SessionError.isInstance(error) || error.code !== 'notFound' || loopId !== undefined) throw error
        if (!isOwnAddress(sessionId) && keptWords(sessionId).text === '') tellOfNothing(sessionId)
        return begin(sessionId)
      }
    })
    return opened ?? begin()
  }

  /** Called after a link was followed. */
  function tellOfNothing(sessionId: string): void {
    const place = backend.settings.value.place === 'server' ? 'on this server' : 'in this browser'
    const text = `There is no conversation of this address ${place}: it was deleted, or it is kept elsewhere. What you write here begins a new one.`
    notices.tell({ topic: 'nothing', kind: 'news', sessionId, text, remedies: [] })
  }

  return { begin, read }
}
