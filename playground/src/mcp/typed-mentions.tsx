import type { McpMentions } from '../../../adapters/mcp/index.ts'
import { type McpToolSet, mcpMentions } from '../../../adapters/mcp/index.ts'
import type { ChatAgent } from '../../../src/client.ts'
import { ConfigError, type Content } from '../../../src/index.ts'
import type { TypedMentions } from '../state/backend/chat-port.ts'
import { promptOf } from '../state/conversation/attachments.ts'
import { Suggestions } from './suggestions.tsx'

let known: { sets: readonly McpToolSet[]; mentions: TypedMentions } | undefined

/**
 * Lets the visitor type prompts and resources from these servers. Returns the same object for the same sets, because it caches their lists.
 */
export function typedMentions(sets: readonly McpToolSet[]): TypedMentions | undefined {
  if (sets.length === 0) return undefined
  const isSame = known?.sets.length === sets.length && sets.every((set, at) => set === known?.sets[at])
  if (known === undefined || !isSame) known = { sets, mentions: made(mcpMentions(sets)) }
  return known.mentions
}

function made(mentions: McpMentions): TypedMentions {
  return {
    Suggestions: () => <Suggestions mentions={mentions} />,
    async inputOf(text, media, agent) {
      if (mentions.isCommand(text)) {
        checkIdle(agent)
        const messages = await mentions.messages(text)
        checkIdle(agent)
        return media.length === 0 ? messages : [{ role: 'user', content: [...media] }, ...messages]
      }
      const resources = await mentions.resourcesIn(text)
      if (resources.length === 0) return promptOf(text, media)
      // A message that is being edited already has its pictures.
      const read = new Set(resources.map((block) => JSON.stringify(block)))
      const others = media.filter((block) => !read.has(JSON.stringify(block)))
      return { role: 'user', content: [{ type: 'text', text }, ...withMarks(resources), ...others] }
    },
  }
}

/** Joins a resource's URI with its text, because they are shown as one item. */
function withMarks(resources: readonly Content[]): Content[] {
  const shown: Content[] = []
  for (const block of resources) {
    const last = shown.at(-1)
    if (block.type === 'text' && last?.type === 'text' && /^\[resource [^\n]*\]$/.test(last.text))
      shown[shown.length - 1] = { type: 'text', text: `${last.text}\n${block.text}` }
    else shown.push(block)
  }
  return shown
}

/** A prompt's messages may include responses, which cannot steer a run. */
function checkIdle({ currentRun }: ChatAgent): void {
  if (currentRun === undefined) return
  throw new ConfigError('invalidOption', 'Prompts of MCP servers are unavailable while the agent works. Wait, or stop it.')
}
