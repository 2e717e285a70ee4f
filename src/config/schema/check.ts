import type { ConfigError } from '../../contract/errors.ts'
import { ownFieldIn, ownOf } from '../../contract/json.ts'
import { invalidField, type Path } from '../config-error.ts'
import { type KeyTable, objectOf } from './key-table.ts'
import { type Note, normalised } from './normalise.ts'
import { type AgentConfig, configTable, type McpServerSection } from './sections.ts'

/** A configuration in its one form, and what of it was not taken over. */
export interface CheckedConfig {
  config: AgentConfig
  notes: Note[]
}

const schema = objectOf(configTable, false)

/** Brings a configuration into its one form and checks every value. Throws `ConfigError` `invalidField` for the first that is wrong. */
export function checkedConfig(given: unknown): CheckedConfig {
  const notes: Note[] = []
  const config = normalised(given, configTable, false, [], notes)
  const { success, error } = schema.safeParse(config)
  if (!success) throw firstIssue(config, error.issues.at(0)?.path ?? [])
  const checked = config as AgentConfig // has just been checked: the table has every field of the type
  for (const [{ command, url }, path] of serversIn(checked)) {
    if (command === undefined && url === undefined) throw invalidField([...path, 'command'], undefined, 'a program, or url, an address')
  }
  return { config: checked, notes }
}

function firstIssue(config: unknown, path: readonly PropertyKey[]): ConfigError {
  const steps: Path = path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  return invalidField(steps, valueAt(config, steps), expectedAt(steps))
}

/** What stands at `path`. */
function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(ownFieldIn, value)
}

function expectedAt(path: Path): string {
  let table: KeyTable | undefined = configTable
  let expected = 'a table'
  for (const step of path) {
    if (typeof step === 'number') {
      expected = expected === 'a list of tables' ? 'a table' : 'a text'
      continue
    }
    const key: KeyTable[string] | undefined = table !== undefined ? ownOf(table, step) : undefined
    expected = key?.expected ?? 'a text'
    table = key?.inner
  }
  return expected
}

/** Every MCP server of a file, in whichever of the two places, with its path there. */
export function serversIn({ tools, mcp }: AgentConfig): [McpServerSection, Path][] {
  const instances = (tools?.instances ?? []).map(({ name, enabled, config }, at): [McpServerSection, Path] => [
    { ...config, name, ...(enabled !== undefined && { enabled }) },
    ['tools', 'instances', at, 'config'],
  ])
  return [...instances, ...(mcp?.servers ?? []).map((server, at): [McpServerSection, Path] => [server, ['mcp', 'servers', at]])]
}
