/**
 * The published declarations without those that no public name leads to. A file says more than its public names need: tables, helpers, and what
 * other files of ours use. Editors would offer it, and compilers would read it.
 */
import { dirname, join } from 'node:path'
import { parseSync } from 'rolldown/experimental'

/** A node of the syntax tree, as far as it is read here. */
interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

/** A name that a statement takes from a file: `from` is a specifier, empty for its own file, and `*` all of it. */
interface Taken {
  from: string
  name: string
}

/** A specifier of an import or an export, with the name that it has in this file or for importers. */
interface Passed extends Taken {
  as: string
  node: Node
}

/** A statement at the top of a file. */
interface Statement {
  node: Node
  /** What it declares. */
  names: string[]
  /** Every identifier in it that may name a declaration. */
  mentions: ReadonlySet<string>
  /** Each `import("…").Name` in it. */
  inline: Taken[]
  passed: Passed[]
}

interface File {
  code: string
  statements: Statement[]
  /** Of each name that importers know, or that is imported: what it stands for elsewhere. */
  exported: Map<string, Passed>
  imported: Map<string, Passed>
  declared: Map<string, Statement[]>
}

/**
 * The texts of the `.d.ts` files that `entries` lead to, by path, each with the declarations that their exports lead to. Throws for a statement
 * that it does not know, and for a file that is imported and missing.
 */
export function reachedTypes(entries: readonly string[], textOf: (path: string) => string): Map<string, string> {
  const reached = new Reached(textOf)
  for (const path of entries) reached.take(path, '*')
  return reached.texts()
}

/** What was reached so far. */
class Reached {
  readonly #textOf: (path: string) => string
  readonly #files = new Map<string, File>()
  readonly #kept = new Map<string, Set<Statement | Passed>>()

  constructor(textOf: (path: string) => string) {
    this.#textOf = textOf
  }

  /** Keeps what importers of a file call `name`; `*` is all that they know. */
  take(path: string, name: string): void {
    const { declared, exported } = this.#fileAt(path)
    for (const each of name === '*' ? namesOf(this.#fileAt(path)) : [name]) {
      const passed = exported.get(each)
      if (passed !== undefined) this.#follow(path, passed)
      else if (declared.has(each)) this.#use(path, each)
      else throw new Error(`${path} has no ${each}, which another declaration imports.`)
    }
  }

  texts(): Map<string, string> {
    return new Map(Array.from(this.#kept, ([path, parts]) => [path, written(this.#fileAt(path), parts)]))
  }

  /** Keeps what a file itself calls `name`. */
  #use(path: string, name: string): void {
    const { declared, imported } = this.#fileAt(path)
    const passed = imported.get(name)
    if (passed !== undefined) this.#follow(path, passed)
    for (const statement of declared.get(name) ?? []) {
      if (!this.#isNew(path, statement)) continue
      for (const each of statement.mentions) this.#use(path, each)
      for (const taken of statement.inline) this.#takeFrom(path, taken)
    }
  }

  #follow(path: string, passed: Passed): void {
    if (!this.#isNew(path, passed)) return
    if (passed.from === '') this.#use(path, passed.name)
    else this.#takeFrom(path, passed)
  }

  #takeFrom(path: string, { from, name }: Taken): void {
    if (from.startsWith('.')) this.take(join(dirname(path), from.replace(/\.ts$/, '.d.ts')), name)
  }

  #isNew(path: string, part: Statement | Passed): boolean {
    const parts = this.#kept.get(path) ?? new Set()
    this.#kept.set(path, parts)
    return parts.size < parts.add(part).size
  }

  #fileAt(path: string): File {
    const file = this.#files.get(path) ?? parsed(this.#textOf(path), path)
    this.#files.set(path, file)
    return file
  }
}

/** Every name that a file exports. */
function namesOf({ exported, statements }: File): string[] {
  const own = statements.filter(({ node }) => node.type === 'ExportNamedDeclaration').flatMap(({ names }) => names)
  return [...exported.keys(), ...own]
}

function parsed(code: string, path: string): File {
  const { program, errors } = parseSync('module.d.ts', code)
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`)
  const statements = nodesIn(program.body).map((node) => statementOf(node, path))
  const file: File = { code, statements, exported: new Map(), imported: new Map(), declared: new Map() }
  for (const statement of statements) {
    const table = statement.node.type === 'ImportDeclaration' ? file.imported : file.exported
    for (const passed of statement.passed) table.set(passed.as, passed)
    for (const name of statement.names) file.declared.set(name, [...(file.declared.get(name) ?? []), statement])
  }
  return file
}

/** What tsc writes for our sources. */
const declarations = new Set([
  'VariableDeclaration',
  'TSDeclareFunction',
  'TSTypeAliasDeclaration',
  'TSInterfaceDeclaration',
  'ClassDeclaration',
])

function statementOf(node: Node, path: string): Statement {
  const passed = passedBy(node)
  const declaration = isNode(node.declaration) ? node.declaration : node
  if (!declarations.has(declaration.type)) {
    const isKnown = node.type === 'ExportNamedDeclaration' || (node.type === 'ImportDeclaration' && passed.length > 0)
    if (!isKnown) throw new Error(`${path} has a statement that is not known here: ${declaration.type}`)
    return { node, names: [], mentions: new Set(), inline: [], passed }
  }
  const declared = declaration.type === 'VariableDeclaration' ? nodesIn(declaration.declarations) : [declaration]
  const inner = [...nodesBelow(declaration)]
  const inline = inner.flatMap(({ type, source, qualifier }): Taken[] =>
    type === 'TSImportType' && isNode(source) ? [{ from: String(source.value), name: firstOf(qualifier) }] : [],
  )
  const mentions = new Set(inner.filter(({ type, typeAnnotation }) => type === 'Identifier' && !isNode(typeAnnotation)).map(nameOf))
  return { node, names: declared.map(({ id }) => nameOf(id)), mentions, inline, passed }
}

function passedBy({ type, source, specifiers }: Node): Passed[] {
  const from = isNode(source) ? String(source.value) : ''
  return nodesIn(specifiers).map((node) => {
    if (type !== 'ImportDeclaration') return { from, name: nameOf(node.local), as: nameOf(node.exported), node }
    const name = node.type === 'ImportSpecifier' ? nameOf(node.imported) : node.type === 'ImportDefaultSpecifier' ? 'default' : '*'
    return { from, name, as: nameOf(node.local), node }
  })
}

/** The first name of `A.B.C`; `*` where there is none. */
function firstOf(qualifier: unknown): string {
  if (!isNode(qualifier)) return '*'
  return qualifier.type === 'TSQualifiedName' ? firstOf(qualifier.left) : nameOf(qualifier)
}

function written({ code, statements }: File, kept: ReadonlySet<Statement | Passed>): string {
  let text = ''
  let last = 0
  for (const [at, statement] of statements.entries()) {
    const { node, passed } = statement
    const before = code.slice(last, node.start)
    last = node.end
    const left = passed.filter((each) => kept.has(each))
    // A comment above the imports is about the file.
    if (left.length === 0 && !kept.has(statement)) text += at === 0 && node.type === 'ImportDeclaration' ? before : ''
    else text += before + (left.length === passed.length ? code.slice(node.start, node.end) : withSpecifiers(code, node, left))
  }
  return `${text.trim()}\n`
}

/** An import or export of these alone. */
function withSpecifiers(code: string, node: Node, left: readonly Passed[]): string {
  const head = /^(?:import|export)(?: type)?/.exec(code.slice(node.start, node.end))?.[0]
  const from = isNode(node.source) ? ` from ${code.slice(node.source.start, node.source.end)}` : ''
  return `${head} { ${left.map((each) => code.slice(each.node.start, each.node.end)).join(', ')} }${from};`
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

function nodesIn(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : []
}

function nameOf(value: unknown): string {
  return isNode(value) && typeof value.name === 'string' ? value.name : ''
}

/** Every node, but for the names of members: a field says nothing of a table that has its name. */
function* nodesBelow(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const part of value) yield* nodesBelow(part)
  if (!isNode(value)) return
  yield value
  for (const [key, child] of Object.entries(value)) if (key !== 'key' || value.computed === true) yield* nodesBelow(child)
}
