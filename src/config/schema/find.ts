import { ownOf } from '../../contract/json.ts'
import type { Path } from '../config-error.ts'
import type { Key } from './key-table.ts'
import type { ModelSection } from './model-sections.ts'
import { type AgentConfig, type McpServerSection, root } from './sections.ts'

/** A value in a file, with its key. */
interface Found {
  key: Key
  value: unknown
  path: Path
  /** Whether the value stays in this process. */
  isLocal: boolean
}

/** Returns every value in a file, including sections, in file order. */
export function valuesIn(config: AgentConfig): Found[] {
  return within(config, root, [], false)
}

function within(section: object, { inner = {}, others }: Key, path: Path, isLocal: boolean): Found[] {
  return Object.entries(section).flatMap(([name, value]: [string, unknown]): Found[] => {
    const key = ownOf(inner, name) ?? others
    if (key === undefined || value === undefined) return []
    const at = [...path, name]
    const isKept = (isLocal && key.role !== 'sent') || key.role === 'local' || key.role === 'workspace'
    return [
      { key, value, path: at, isLocal: isKept },
      ...sectionsOf({ key, value, path: at }).flatMap(([each, to]) => within(each, key, to, isKept)),
    ]
  })
}

/** Returns the sections at a key (zero or more). */
export function sectionsOf({ key, value, path }: Omit<Found, 'isLocal'>): [section: object, path: Path][] {
  if (key.inner === undefined) return []
  return Array.isArray(value) ? value.map((each, at) => [each, [...path, at]]) : [[Object(value), path]]
}

/** Returns every string at keys with this `role`. Lists yield one entry per item. */
export function textsOf(config: AgentConfig, role: Key['role']): { text: string; path: Path }[] {
  const found = valuesIn(config).filter(({ key }) => key.role === role)
  return found.flatMap(({ value, path }) =>
    Array.isArray(value) ? value.map((text, at) => ({ text: String(text), path: [...path, at] })) : { text: String(value), path },
  )
}

/** Returns every section that describes a model. */
export function modelsIn({ provider }: AgentConfig): [ModelSection, Path][] {
  if (provider === undefined) return []
  const { instances = [], ...base } = provider
  return [[base, ['provider']], ...instances.map((each, at): [ModelSection, Path] => [each, ['provider', 'instances', at]])]
}

/** Returns every MCP server in a file with its path, from `[[mcp.servers]]` and `[[tools.instances]]`. */
export function serversIn({ tools, mcp }: AgentConfig): [McpServerSection, Path][] {
  const instances = (tools?.instances ?? []).map(({ name, enabled, config }, at): [McpServerSection, Path] => [
    { ...config, name, ...(enabled !== undefined && { enabled }) },
    ['tools', 'instances', at, 'config'],
  ])
  return [...instances, ...(mcp?.servers ?? []).map((server, at): [McpServerSection, Path] => [server, ['mcp', 'servers', at]])]
}
