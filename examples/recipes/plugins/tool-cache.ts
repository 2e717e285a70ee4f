import type { ToolResult } from 'phi-core'
import { type AgentPlugin, definePlugin } from 'phi-core/loop'

/** Runs each call of `tools` once: equal arguments return the cached result. Sub-agents share the cache. */
export function toolCache(tools: readonly string[], results = new Map<string, ToolResult>()): AgentPlugin {
  return definePlugin({
    name: 'tool-cache',
    covers: 'tree',
    begin: () => ({
      async call({ toolName, args }, run) {
        if (!tools.includes(toolName)) return run()
        const key = JSON.stringify([toolName, args])
        const known = results.get(key)
        if (known !== undefined) return known
        const result = await run()
        if (result.isError !== true) results.set(key, result)
        return result
      },
    }),
  })
}
