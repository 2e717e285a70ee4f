import { Agent, type AgentTool, type Model } from 'phi-core'
import { memoryWorkspace, readFileTool, toolSearch } from 'phi-core/tools'

/** Lets the model search a thousand tools, and saves long results to files. */
export function withManyTools(model: Model, operations: AgentTool[]): Agent {
  const workspace = memoryWorkspace()
  return new Agent({
    model,
    tools: [readFileTool({ workspace }), ...toolSearch(operations, { native: true })],
    offload: { over: 20_000, workspace },
  })
}
