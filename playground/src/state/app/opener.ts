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
  /** Opens a stored conversation, optionally from `loopId`. If it cannot be opened, reports the failure and opens a new one. */
  read(sessionId: string, loopId?: string): Promise<Conversation>
}

interface Opening {
  backend: SettableBackend
  notices: Notices
  /** Called when a message has been sent and stored. */
  onPrompt: (conversation: Conversation) => void
  /** Called when a run has ended and its end is stored. */
  onEnd: (conversation: Conversation, status: RunStatus) => void
}

/** Creates an opener with callbacks for the conversations that it opens. */
export function createOpener({ backend, notices, onPrompt, onEnd }: Opening): Opener {
  const pace = () => backend.settings.value.textPace

  function listen(conversation: Conversation): Conversation {
    const { agent } = conversation.chat
    let run = agent.currentRun
    agent.subscribe((event) => {
      run = agent.currentRun ?? run
      if (event.type === 'messageEnd' && event.message.role === 'user') onPrompt(conversation)
      // A run's end is stored after its last event.
      if (event.type === 'agentEnd') void Promise.resolve(run?.result).then(() => onEnd(conversation, event.status))
    })
    return conversation
  }

  function begin(sessionId?: string): Conversation {
    return listen(createConversation(backend.begin(sessionId), { notices, pace: pace() }))
  }

  async function read(sessionId: string, loopId?: string): Promise<Conversation> {
    const opened = await notices.attempt({ topic: 'open', failure: 'Cannot open this conversation' }, async () => {
      try {
        const chat = await backend.open(sessionId, loopId)
        return listen(createConversation(chat, { notices, pace: pace(), recorded: await chat.recorded(), loopId }))
      } catch (error) {
        // A conversation that was never written to has no records yet.
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
    const text = `No conversation with this URL exists ${place}: it was deleted or is stored elsewhere. Your next message starts a new one.`
    notices.tell({ topic: 'nothing', kind: 'news', sessionId, text, remedies: [] })
  }

  return { begin, read }
}
