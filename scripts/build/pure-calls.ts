import { parseSync } from 'rolldown/experimental'

/** A node of the syntax tree, as far as it is read here. */
interface Node {
  type: string
  start: number
  [key: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value && 'start' in value

/** What a bundler takes for an effect, besides a call: it may run a getter. */
const mayRunGetter = new Set(['SpreadElement', 'MemberExpression'])

const mark = '/*#__PURE__*/ '

/** Every node of an expression, but for those that run later: bodies of functions. */
function* nodesNow(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const part of value) yield* nodesNow(part)
  if (!isNode(value)) return
  if (value.type.includes('Function') || value.type === 'MethodDefinition') return
  yield value
  for (const [key, child] of Object.entries(value)) if (key !== 'type') yield* nodesNow(child)
}

/**
 * Marks what the top level of a module computes as without effects, so that bundlers of other people leave out what they do not use: tables of
 * shapes are made by calls, and of other tables, and a bundler must believe that this does something. Ours do nothing but make values.
 *
 * - A call is marked as pure.
 * - A value made of another one (`{ ...fields }`, `shape.words`) comes from a function that is called at once, and marked.
 * - So does each name of `const { a: _, ...rest } = fields`.
 */
export function withPureCalls(code: string): string {
  const { program } = parseSync('module.js', code)
  const edits: { start: number; end: number; text: string }[] = []
  const insert = (at: number, text: string) => edits.push({ start: at, end: at, text })
  for (const statement of program.body) {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declared?.type !== 'VariableDeclaration') continue
    const single = statement === declared && declared.declarations.length === 1 ? declared.declarations[0] : undefined
    const names = single && single.id.type === 'ObjectPattern' && single.init?.type === 'Identifier' ? namesOf(single.id) : undefined
    if (names !== undefined && single !== undefined) {
      const [pattern, source] = [single.id, single.init].map((node) => code.slice(node?.start, node?.end))
      const each = names.map((name) => `const ${name} = ${mark}((${pattern}) => ${name})(${source});`)
      edits.push({ start: declared.start, end: declared.end, text: each.join('\n') })
      continue
    }
    for (const { init } of declared.declarations) {
      const nodes = [...nodesNow(init)]
      const runsLater = init?.type === 'ClassExpression' || nodes.some(({ type }) => type === 'AwaitExpression')
      if (init !== null && !runsLater && nodes.some(({ type }) => mayRunGetter.has(type))) {
        insert(init.start, `${mark}(() => (`)
        insert(init.end, '))()')
      } else for (const { type, start } of nodes) if (type === 'CallExpression' || type === 'NewExpression') insert(start, mark)
    }
  }
  let written = ''
  let last = 0
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start)) {
    written += `${code.slice(last, start)}${text}`
    last = end
  }
  return written + code.slice(last)
}

/** The names that a pattern binds, where it is plain: `{ a, b: c, ...rest }`. */
function namesOf({ properties }: { properties: readonly unknown[] }): string[] | undefined {
  const bound = properties.map((property) => {
    const node = isNode(property) ? (property.type === 'RestElement' ? property.argument : property.value) : undefined
    return isNode(node) && node.type === 'Identifier' && typeof node.name === 'string' ? node.name : undefined
  })
  return bound.every((name) => name !== undefined) ? bound : undefined
}
