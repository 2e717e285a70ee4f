/**
 * Declarations as people would write them. The sources declare a shape once, as a table, and take its type from it; editors and compilers of those
 * who use the package need not work that out again: an interface says its fields, a union its members.
 */

/** What `typeof name` stands for in a declaration file. */
type Tables = ReadonlyMap<string, string>

const interfaceOfTable = /( extends )(Readonly<)?(?:import\("[^"]+"\)\.)?FieldsOf<typeof (\w+)>>?( \{)\n\}/g
const aliasOfShape = /^(export (?:declare )?type \w+ = )(?:import\("[^"]+"\)\.)?(Infer|Given)<typeof (\w+)>;$/gm

/** `code`, the text of a `.d.ts`, with types in place of what they are computed from. Throws where a table is not written as tables are. */
export function writtenTypes(code: string): string {
  const tables = tablesIn(code)
  const aliases: [name: string, type: string][] = []
  const written = code
    .replace(interfaceOfTable, (_all, _extends, isReadonly: string | undefined, table: string) => {
      return ` {\n${interfaceBody(tables.get(table) ?? '', isReadonly !== undefined)}}`
    })
    .replace(aliasOfShape, (all, head: string, which: string, name: string) => {
      const shape = tables.get(name)
      if (shape === undefined) return all
      const { type } = carriedBy(shape, which === 'Given')
      aliases.push([/(\w+) = $/.exec(head)?.[1] ?? '', type])
      return `${head}${type};`
    })
  // A field of a type that the file names says the name.
  const named = aliases.reduce((rest, [name, type]) => rest.replaceAll(`: ${type};`, `: ${name};`), written)
  return withImports(withoutUnused(named, tables))
}

/** The text behind `const name: `, of all constants. */
function tablesIn(code: string): Tables {
  const found = new Map<string, string>()
  for (const { 1: name = '', index, 0: head } of code.matchAll(/^(?:export )?declare const (\w+): /gm)) {
    found.set(name, upTo(code, index + head.length, ';'))
  }
  return found
}

/** What stands from `start` up to `end`, outside of brackets, strings and comments. */
function upTo(code: string, start: number, end: string): string {
  let depth = 0
  for (let at = start; at < code.length; at += 1) {
    const character = code[at] ?? ''
    if (code.startsWith('/*', at)) at = code.indexOf('*/', at) + 1
    else if (character === '"') at = code.indexOf('"', at + 1)
    else if (code.startsWith('=>', at)) at += 1
    else if (depth === 0 && character === end) return code.slice(start, at)
    else if ('{([<'.includes(character)) depth += 1
    else if ('})]>'.includes(character)) depth -= 1
  }
  throw new Error(`A declaration has no end: ${code.slice(start, start + 80)}`)
}

function interfaceBody(table: string, isReadonly: boolean): string {
  const inner = table.slice(table.indexOf('{') + 1, table.lastIndexOf('}'))
  let body = ''
  for (let at = 0; ; ) {
    const found = /((?:\s*\/\*\*[\s\S]*?\*\/)?\s*)(\w+): /y
    found.lastIndex = at
    const [whole, comment = '', name = ''] = found.exec(inner) ?? []
    if (whole === undefined) return `${body}\n`
    const shape = upTo(inner, at + whole.length, ';')
    const { type, isOptional } = carriedBy(shape, false)
    body += `${comment.replace(/^\n/, body === '' ? '' : '\n')}${isReadonly ? 'readonly ' : ''}${name}${isOptional ? '?' : ''}: ${type};`
    at += whole.length + shape.length + 1
  }
}

/** The type that a shape carries: the first of its type arguments, or the second, of what callers may hand in. */
function carriedBy(shape: string, isGiven: boolean): { type: string; isOptional: boolean } {
  const [head, kind] = /^(?:import\("[^"]+"\)\.)?(ShapeOf|GivenShape|Word|KeyOf)</.exec(shape) ?? []
  if (head === undefined) throw new Error(`This is no shape of a table: ${shape.slice(0, 80)}`)
  const args = `${upTo(shape, head.length, '>')},`
  const first = upTo(args, 0, ',')
  const rest = shape.slice(head.length + args.length)
  const second = kind === 'GivenShape' && isGiven ? upTo(args, first.length + 1, ',').trim() : first
  return { type: isGiven ? second : first, isOptional: /^ & .*\bOptional\b/.test(rest) }
}

/** Without the tables that nothing refers to any more, and without those of agent files: no entry has them, and their keys lead to zod. */
function withoutUnused(code: string, tables: Tables): string {
  let rest = code
  for (const [name, text] of tables) {
    const declaration = `declare const ${name}: ${text};\n`
    const isOfFiles = text.includes('KeyOf<')
    const [before = '', after] = rest.split(`${isOfFiles && rest.includes(`export ${declaration}`) ? 'export ' : '\n'}${declaration}`)
    if (after === undefined || (!isOfFiles && new RegExp(`typeof ${name}\\b`).test(before + after))) continue
    rest = `${isOfFiles ? before.replace(/\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n$/, '') : before}\n${after}`
  }
  return rest
}

/** `import("./x.ts").Name` as `Name`, imported at the top, where the file has no other of this name. */
function withImports(code: string): string {
  const added = new Map<string, string>()
  const short = code.replace(/\bimport\("([^"]+)"\)\.(\w+)/g, (all, path: string, name: string) => {
    if (added.get(name) === path) return name
    if (added.has(name) || new RegExp(`(?:import|interface|type|const|class|function)[^;=]*\\b${name}\\b`).test(code.replaceAll(all, '')))
      return all
    added.set(name, path)
    return name
  })
  return Array.from(added, ([name, path]) => `import type { ${name} } from '${path}';\n`).join('') + short
}
