import { readFileSync, writeFileSync } from 'node:fs'
import type { Key, KeyTable } from '../../src/config/schema/key-table.ts'
import { root } from '../../src/config/schema/sections.ts'

export const page = 'docs/reference/configuration.md'
const mark = { begin: '<!-- keys -->\n', end: '<!-- /keys -->' }

/** Every section of an agent file as a heading and a table, out of the table that files are checked with. */
function keyTables(): string {
  return `${sections(root.inner ?? {}, '', false).join('\n')}\n`
}

function sections(table: KeyTable, name: string, isList: boolean): string[] {
  const keys = Object.entries(table)
  const leaves = keys.filter(([, { inner }]) => inner === undefined)
  const heading = name === '' ? 'Top level' : isList ? `\`[[${name}]]\`` : `\`[${name}]\``
  const rows = leaves.map(([key, value]) => row(key, value))
  const own = rows.length === 0 ? [] : [`### ${heading}\n`, '| Key | Type | Default | Description |', '|---|---|---|---|', ...rows, '']
  return [...own, ...keys.flatMap(([key, value]) => within(name === '' ? key : `${name}.${key}`, value))]
}

/** Variations and connections say the same again: once is enough. */
const asAbove: Readonly<Record<string, string>> = {
  'agent.instances.profile': '`[agent.profile]`',
  'provider.instances.cost': '`[provider.cost]`',
  'provider.instances.compat': '`[provider.compat]`',
  'tools.instances.config': '`[[mcp.servers]]`, without `name` and `enabled`',
  'context.compaction': '`[compaction]`',
}

function within(name: string, { inner, isList }: Key): string[] {
  if (inner === undefined) return []
  const same = asAbove[name]
  if (same !== undefined) return [`### \`[${name}]\`\n\nThe keys are the same as in ${same}.\n`]
  return sections(inner, name, isList === true)
}

function row(name: string, { expected, fallback, about, aliases, isOptional }: Key): string {
  const names = [name, ...aliases].map((each) => `\`${each}\``).join(', ')
  const without = isOptional ? (fallback ?? '–') : 'required'
  return `| ${names} | ${expected.replaceAll('|', '\\|')} | ${without} | ${about} |`
}

/** The page with the tables as they are now. */
export function withKeys(markdown: string): string {
  const [before = '', rest = ''] = markdown.split(mark.begin)
  const [, after = ''] = rest.split(mark.end)
  return `${before}${mark.begin}\n${keyTables()}${mark.end}${after}`
}

// npm exec -- node test/docs/config-keys.ts: writes the tables into the page.
if (import.meta.main) writeFileSync(page, withKeys(readFileSync(page, 'utf8')))
