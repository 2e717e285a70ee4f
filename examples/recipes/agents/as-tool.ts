import { Agent, type Model } from 'phi-core'
import { asTool } from 'phi-core/agents'

/** One agent writes, the other reviews the text. */
export function writerWithEditor(model: Model): Agent {
  const editor = new Agent({ model, systemPrompt: 'You list the three worst sentences of a text.', limits: { maxTurns: 2 } })
  const tools = [asTool(editor, { name: 'editor', description: 'Reads a text and lists its worst sentences.' })]
  return new Agent({ model, systemPrompt: 'You write. Ask the editor before you answer.', tools })
}
