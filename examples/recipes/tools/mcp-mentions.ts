import type { Agent, PromptInput } from 'phi-core'
import { type McpToolSet, mcpMentions } from 'phi-core/mcp'

/** A message field for users of `agent`: completes commands and mentions, and sends what was typed. */
export function messageField(agent: Agent, sets: readonly McpToolSet[]) {
  const mentions = mcpMentions(sets)

  async function inputOf(typed: string): Promise<PromptInput> {
    if (mentions.isCommand(typed)) return mentions.messages(typed)
    const resources = await mentions.resourcesIn(typed)
    return { role: 'user', content: [...resources, { type: 'text', text: typed }] }
  }

  return {
    /** Texts that can replace what is before the cursor, such as `@files:file:///plan.txt`. */
    complete: (before: string) => mentions.complete(before),
    /** Calls `listener` when `complete` may return more. */
    subscribe: (listener: () => void) => mentions.subscribe(listener),
    async send(typed: string): Promise<string> {
      return agent.prompt(await inputOf(typed)).text()
    },
  }
}
