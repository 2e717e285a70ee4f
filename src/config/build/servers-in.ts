import type { Path } from '../config-error.ts'
import type { AgentConfig, McpServerSection } from '../schema/sections.ts'

/** Every MCP server of a file, in whichever of the two places, with its path there. */
export function serversIn({ tools, mcp }: AgentConfig): [McpServerSection, Path][] {
  const instances = (tools?.instances ?? []).map(({ name, enabled, config }, at): [McpServerSection, Path] => [
    { ...config, name, ...(enabled !== undefined && { enabled }) },
    ['tools', 'instances', at, 'config'],
  ])
  return [...instances, ...(mcp?.servers ?? []).map((server, at): [McpServerSection, Path] => [server, ['mcp', 'servers', at]])]
}
