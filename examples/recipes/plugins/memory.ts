import { textOf } from 'phi-core'
import { type AgentPlugin, definePlugin } from 'phi-core/loop'

/** Adds known facts about the question to the request. It looks them up once per question, even if the run pauses for an approval. */
export function memory(recall: (question: string) => Promise<readonly string[]>): AgentPlugin {
  return definePlugin({
    name: 'memory',
    begin: (run) => ({
      async request({ messages }) {
        const at = messages.findLastIndex(({ role }) => role === 'user')
        const question = textOf(messages[at]?.content ?? [])
        let known = run.notes as { question: string; facts: string[] } | undefined // the value that keep() stored
        if (known?.question !== question) {
          known = { question, facts: [...(await recall(question))] }
          run.keep(known)
        }
        if (known.facts.length === 0) return undefined
        const memory = { role: 'user' as const, content: `What is known:\n${known.facts.join('\n')}` }
        return { messages: [...messages.slice(0, at), memory, ...messages.slice(at)] }
      },
    }),
  })
}
