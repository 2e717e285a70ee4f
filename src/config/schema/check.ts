import type { ConfigError } from '../../contract/errors.ts'
import { isObject, ownFieldIn, ownOf } from '../../contract/json.ts'
import { nearest } from '../../contract/shape/nearest-name.ts'
import { vendorOfModel } from '../../providers/kit/vendors.ts'
import { type ConfigWarning, fieldError, fieldOf, invalidField, type Path } from '../config-error.ts'
import { modelsIn, serversIn } from './find.ts'
import type { Key, KeyTable } from './key-table.ts'
import { type AgentConfig, type CompactionSettings, root } from './sections.ts'

/** An ignored part of a configuration, and why. */
export type Note = Pick<ConfigWarning, 'code' | 'message'> & { path: Path }

/** A normalized configuration, and its ignored parts. */
export interface CheckedConfig {
  config: AgentConfig
  notes: Note[]
}

/** Normalizes a configuration and checks every value. Throws `ConfigError` `invalidField` for the first invalid value. */
export function checkedConfig(given: unknown): CheckedConfig {
  const notes: Note[] = []
  const config = section(given, root, [], notes) as AgentConfig // The table contains every field of the type.
  for (const [{ command, url }, path] of serversIn(config)) {
    if (command === undefined && url === undefined) throw invalidField([...path, 'command'], undefined, 'a program, or url, an address')
  }
  return { config, notes }
}

/** Limits the number of notes and the time to find the nearest known names. */
const maxNotes = 100

/**
 * Normalizes a section: resolves aliases. Drops `null`, comments and unknown keys. Reports unknown keys with the nearest known key.
 *
 * Throws `ConfigError` `invalidField` for an invalid or missing value, for a key given together with its alias, and for unknown keys in
 * guard sections.
 */
function section(value: unknown, { inner = {}, others }: Key, path: Path, notes: Note[]): object {
  if (!isObject(value)) throw invalidField(path, value, 'a table')
  const found = new Map<string, unknown>()
  const givenNames = new Map<string, string>()
  for (const [given, entry] of Object.entries(value)) {
    // JSON has no comment syntax, and editors read the `$schema` key.
    if (entry === null || entry === undefined || given.startsWith('_comment') || (path.length === 0 && given === '$schema')) continue
    const name = nameOf(given, inner) ?? given
    const key = ownOf(inner, name) ?? others
    if (key === undefined) {
      if (isGuard(given, path)) throw guardNotRead(unknownKey(given, inner, path))
      if (notes.length < maxNotes) notes.push(unknownKey(given, inner, path))
      continue
    }
    if (found.has(name)) throw invalidField([...path, given], entry, `${givenNames.get(name)} or ${given}, not both`)
    givenNames.set(name, given)
    found.set(name, fitting(entry, key, [...path, name], notes))
  }
  for (const [name, { isOptional, expected }] of Object.entries(inner))
    if (isOptional !== true && !found.has(name)) throw invalidField([...path, name], undefined, expected)
  return Object.fromEntries(found)
}

/** Returns the checked value of `key`. */
function fitting(value: unknown, key: Key, path: Path, notes: Note[]): unknown {
  const { inner, isList, schema, expected } = key
  if (inner !== undefined && !isList) return section(value, key, path, notes)
  if (inner !== undefined && Array.isArray(value)) return value.map((each, at) => section(each, key, [...path, at], notes))
  const within = schema
    .safeParse(value)
    .error?.issues.at(0)
    ?.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  if (within === undefined) return value
  const wanted = within.length === 0 ? expected : expected === 'a list of tables' ? 'a table' : 'a string'
  throw invalidField([...path, ...within], within.reduce<unknown>(ownFieldIn, value), wanted)
}

function nameOf(given: string, table: KeyTable): string | undefined {
  if (Object.hasOwn(table, given)) return given
  return Object.entries(table).find(([, { aliases }]) => aliases.includes(given))?.[0]
}

function unknownKey(given: string, table: KeyTable, path: Path): Note {
  const names = Object.entries(table).flatMap(([name, { aliases }]) => [name, ...aliases])
  const field = fieldOf([...path, given])
  const advice = nearest(given, names)
  return { code: 'unknownKey', path: [...path, given], message: `${field} is ignored: the key does not exist. ${advice}` }
}

/** Sections that limit a run. Ignoring a misspelled key in them would silently remove a limit. */
const guardSections = new Set<string | number | undefined>(['callbacks', 'hooks', 'execution', 'limits', 'approval'])
/** Names that other programs use for the servers section. */
const serverSections = new Set(['mcpServers', 'mcp_servers'])

function isGuard(given: string, path: Path): boolean {
  return (
    guardSections.has(path[0] ?? given) || /approv|permission|allow|deny/i.test(given) || (path.length === 0 && serverSections.has(given))
  )
}

function guardNotRead({ path, message }: Note): ConfigError {
  const isServers = path.length === 1 && serverSections.has(String(path[0]))
  const text = isServers ? `${fieldOf(path)} is ignored: define servers in [[mcp.servers]], each with a name.` : message
  return fieldError('invalidField', path, `${text} The key would restrict the agent, so the file is rejected.`)
}

/** Returns notes on settings without effect. */
export function adviceOn(config: AgentConfig): Note[] {
  return [...costAdvice(config), ...compactionAdvice(config), ...batchAdvice(config), ...modelAdvice(config)]
}

function noEffect(path: Note['path'], message: string): Note {
  return { code: 'noEffect', path, message }
}

function costAdvice(config: AgentConfig): Note[] {
  const isPriced = modelsIn(config).some(
    ([{ catalogue, cost }]) => catalogue === true || Object.values({ ...cost }).some((rate) => Number(rate) > 0),
  )
  if (config.execution?.max_cost === undefined || isPriced) return []
  const message =
    'execution.max_cost has no effect: no provider has prices. Set catalogue = true in [provider], or rates in [provider.cost].'
  return [noEffect(['execution', 'max_cost'], message)]
}

function compactionAdvice({ compaction, context }: AgentConfig): Note[] {
  const sections: (CompactionSettings | undefined)[] = [compaction, context, context?.compaction]
  const instances = [...(compaction?.instances ?? []), ...(context?.compaction?.instances ?? [])]
  if ([...sections, ...instances].some((each) => each?.max_context_tokens !== undefined)) return []
  if (compaction === undefined && context === undefined) return []
  const path = compaction === undefined ? 'context' : 'compaction'
  return [noEffect([path], `${path} has no effect: compaction requires max_context_tokens, which is missing.`)]
}

function batchAdvice({ tools }: AgentConfig): Note[] {
  if (tools?.batch_size === undefined || tools.tool_strategy?.toLowerCase() === 'batched') return []
  return [noEffect(['tools', 'batch_size'], 'tools.batch_size has no effect: it requires tool_strategy = "batched".')]
}

function modelAdvice(config: AgentConfig): Note[] {
  return modelsIn(config).flatMap(([{ model, api: protocol, provider, base_url }, path]) => {
    if (model === undefined || model.includes('/') || [protocol, provider, base_url].some((each) => each !== undefined)) return []
    const api = vendorOfModel(model)
    if (api === undefined || api === 'anthropic') return []
    const shown = model.slice(0, 60)
    const advice = `The model ${JSON.stringify(shown)} uses the default provider, Anthropic. Did you mean "${api}/${shown}"?`
    return [noEffect([...path, 'model'], advice)]
  })
}
