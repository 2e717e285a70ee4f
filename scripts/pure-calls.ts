import { parseSync } from 'rolldown/experimental'

/** A node of the syntax tree, as far as it is read here. */
interface Node {
  type: string
  start: number
  [key: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value && 'start' in value

/**
 * Marks every call at the top level of a module as one without effects, so that bundlers of other people leave out what they do not use: tables of
 * shapes are made by calls, and a bundler must believe that a call does something. Ours do nothing but make values.
 */
export function withPureCalls(code: string): string {
  const at = new Set<number>()
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const part of value) walk(part)
    if (!isNode(value)) return
    if (value.type.includes('Function') || value.type === 'MethodDefinition') return
    if (value.type === 'CallExpression' || value.type === 'NewExpression') at.add(value.start)
    for (const [key, child] of Object.entries(value)) if (key !== 'type') walk(child)
  }
  const { program } = parseSync('module.js', code)
  for (const statement of program.body) {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declared?.type === 'VariableDeclaration') walk(declared.declarations.map(({ init }) => init))
  }
  let written = ''
  let last = 0
  for (const start of [...at].sort((a, b) => a - b)) {
    written += `${code.slice(last, start)}/* @__PURE__ */ `
    last = start
  }
  return written + code.slice(last)
}
