import type { Signal } from '@preact/signals'
import type { McpAppHost } from '../../../adapters/mcp/apps/index.ts'

/** An app's request to the user. */
export interface AppQuestion {
  question: string
  detail: string
  yes: string
  no: string
  decide: (isAllowed: boolean) => void
}

/** Creates the host for an app. Adds the app's requests to `asked`, and its messages to the composer. */
export function appHost(
  asked: Signal<readonly AppQuestion[]>,
  { onDraft, onEnd }: { onDraft: (text: string) => void; onEnd: (reason: string) => void },
): McpAppHost {
  /** Resolves with `false` when the frame is closed first. */
  function ask(question: Omit<AppQuestion, 'decide'>, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const decide = (isAllowed: boolean) => {
        asked.value = asked.value.filter((each) => each !== one)
        resolve(isAllowed)
      }
      const one = { ...question, decide }
      signal.addEventListener('abort', () => decide(false), { once: true })
      asked.value = [...asked.value, one]
    })
  }

  return {
    approve: ({ label, args }, signal) =>
      ask({ question: `The app wants to call ${label}`, detail: JSON.stringify(args, undefined, 2), yes: 'Approve', no: 'Deny' }, signal),
    openLink: async (url, signal) => {
      const question = 'The app wants to open this URL. Its server receives everything in it.'
      const isOpened = await ask({ question, detail: url, yes: 'Open in a new tab', no: 'Stay' }, signal)
      if (isOpened) open(url, '_blank', 'noopener,noreferrer')
      return isOpened
    },
    draft: onDraft,
    onEnd,
  }
}
