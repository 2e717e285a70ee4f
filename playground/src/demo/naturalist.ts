import { SubAgentTool } from '../../../src/agents.ts'
import type { AgentTool } from '../../../src/index.ts'
import { readFileTool, searchTool, type Workspace } from '../../../src/tools.ts'
import { type DemoScript, demoModel } from './model.ts'
import { usageCounter } from './script.ts'

/** A sub-agent with its own scripted model. */
export function naturalist(workspace: Workspace): AgentTool {
  const counted = usageCounter()
  const script: DemoScript = (request) => {
    const found = request.messages.findLast((message) => message.role === 'toolResult')
    const step =
      found === undefined
        ? {
            thinking: 'Each sighting should be in log/.',
            text: 'I search the logbook.',
            toolCalls: [{ name: 'search', arguments: { pattern: 'walrus', path: 'log' } }],
          }
        : { text: 'Three walruses: two on Monday, one on Wednesday.' }
    return { ...step, usage: counted(request, step) }
  }
  return new SubAgentTool({
    name: 'naturalist',
    description: 'Knows animals, and reads the logbook for them.',
    systemPrompt: 'Count carefully.',
    model: demoModel(script, 'demo-naturalist', 'Demo naturalist'),
    tools: [searchTool({ workspace }), readFileTool({ workspace })],
    forward: 'events',
  })
}
