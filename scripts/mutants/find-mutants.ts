/**
 * The mutants of a source file: each a small fault of the kind people make, at one place. They are only described here;
 * `switchable.ts` writes all of a file's mutants into one text, of which a run of the tests switches one on.
 */
import { parseSync } from 'vite'

export type MutantKind =
  | 'comparison'
  | 'arithmetic'
  | 'logic'
  | 'condition'
  | 'constant'
  | 'text'
  | 'call'
  | 'statement'
  | 'field'
  | 'element'
  | 'await'

/** How the fault stands in the text: in place of an expression or a member's name, or as something left out. */
export type MutantForm = 'expression' | 'member' | 'statement' | 'property' | 'element'

export interface Mutant {
  /** From the project's root, with `/`. */
  file: string
  /** Its place among the mutants of the file. */
  index: number
  kind: MutantKind
  form: MutantForm
  /** Of what is replaced, in UTF-16 units. */
  start: number
  end: number
  line: number
  original: string
  /** Empty where something is left out. */
  replacement: string
}

interface Node {
  type: string
  start: number
  end: number
  [field: string]: unknown
}

type Found = Pick<Mutant, 'kind' | 'form' | 'start' | 'end' | 'replacement'>

const comparisons: Record<string, readonly string[]> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
}
const arithmetic: Record<string, string> = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '+=': '-=', '-=': '+=', '*=': '/=' }
const siblings: Record<string, string> = {
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
}

/** Throws where the file has a syntax error. */
export function findMutants(file: string, source: string): Mutant[] {
  const { program, errors } = parseSync(file, source)
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`)
  const found: Found[] = []
  for (const node of nodesOf(program)) visit(node, false)
  const lines = lineCounter(source)
  return found
    .sort((a, b) => a.start - b.start || b.end - a.end)
    .map((mutant, index) => ({
      ...mutant,
      file,
      index,
      line: lines(mutant.start),
      original: source.slice(mutant.start, mutant.end),
    }))

  function visit(node: Node, inError: boolean): void {
    const isError = inError || node.type === 'ThrowStatement' || (node.type === 'NewExpression' && /Error\b/.test(text(node.callee)))
    found.push(...mutantsAt(node, isError))
    for (const child of childrenOf(node)) visit(child, isError)
  }

  function text(node: unknown): string {
    return isNode(node) ? source.slice(node.start, node.end) : ''
  }

  /** What can go wrong at this node alone. */
  function mutantsAt(node: Node, inError: boolean): Found[] {
    switch (node.type) {
      case 'BinaryExpression':
        return operators(node)
      case 'AssignmentExpression': {
        const other = arithmetic[String(node.operator)]
        return other === undefined ? [] : [expression('arithmetic', node, `${text(node.left)} ${other} ${text(node.right)}`)]
      }
      case 'LogicalExpression':
        return logic(node)
      case 'UnaryExpression':
        return node.operator === '!' ? [expression('logic', node, text(node.argument))] : []
      case 'IfStatement':
      case 'ConditionalExpression':
        return isNode(node.test) ? [expression('condition', node.test, 'true'), expression('condition', node.test, 'false')] : []
      case 'Literal':
        return literal(node, inError)
      case 'TemplateLiteral':
        return inError ? [] : [expression('text', node, "''")]
      case 'CallExpression':
        return sibling(node)
      case 'AwaitExpression':
        return [expression('await', node, text(node.argument))]
      case 'ExpressionStatement':
        return node.directive === undefined || node.directive === null ? [leftOut('statement', 'statement', node)] : []
      case 'ThrowStatement':
      case 'ContinueStatement':
      case 'BreakStatement':
        return [leftOut('statement', 'statement', node)]
      case 'ObjectExpression':
        return nodesOf(node.properties)
          .filter((property) => property.type === 'Property' && property.kind === 'init' && property.method !== true)
          .map((property) => leftOut('field', 'property', property))
      case 'ArrayExpression':
        return nodesOf(node.elements).map((element) => leftOut('element', 'element', element))
      default:
        return []
    }
  }

  function operators(node: Node): Found[] {
    const operator = String(node.operator)
    const write = (other: string) => `(${text(node.left)}) ${other} (${text(node.right)})`
    const flipped = (comparisons[operator] ?? []).map((other) => expression('comparison', node, write(other)))
    const other = arithmetic[operator]
    return other === undefined ? flipped : [...flipped, expression('arithmetic', node, write(other))]
  }

  function logic(node: Node): Found[] {
    const [left, right] = [text(node.left), text(node.right)]
    if (node.operator !== '??') return [expression('logic', node, `(${left}) ${node.operator === '&&' ? '||' : '&&'} (${right})`)]
    const sides = [expression('logic', node, left), expression('logic', node, right)]
    // `a || b` differs from `a ?? b` for false, 0 and '': of interest where such a value can stand, as a literal beside it tells.
    const isPlain = isNode(node.right) && node.right.type === 'Literal'
    return isPlain ? [...sides, expression('logic', node, `(${left}) || (${right})`)] : sides
  }

  function literal(node: Node, inError: boolean): Found[] {
    const { value } = node
    if (typeof value === 'boolean') return [expression('constant', node, String(!value))]
    if (typeof value === 'number') return [expression('constant', node, String(value < 10 ? value + 1 : value * 2))]
    if (typeof value !== 'string') return []
    if (!value.includes(' ')) return [expression('constant', node, value === '' ? "'mutant'" : "''")]
    return inError ? [] : [expression('text', node, "''")]
  }

  function sibling({ callee }: Node): Found[] {
    if (!isNode(callee) || callee.type !== 'MemberExpression' || callee.computed === true || callee.optional === true) return []
    const { object, property } = callee
    if (!isNode(object) || !isNode(property)) return []
    const other = siblings[String(property.name)]
    return other === undefined ? [] : [{ kind: 'call', form: 'member', start: object.end, end: property.end, replacement: `.${other}` }]
  }
}

function expression(kind: MutantKind, { start, end }: Node, replacement: string): Found {
  return { kind, form: 'expression', start, end, replacement }
}

function leftOut(kind: MutantKind, form: 'statement' | 'property' | 'element', { start, end }: Node): Found {
  return { kind, form, start, end, replacement: '' }
}

// Types, names of modules, keys and tags are not code that can be wrong by itself.
const notRun = /^(Import|TS(?!AsExpression|NonNullExpression|SatisfiesExpression)|ExportAll|TaggedTemplate)/
const keys: Record<string, readonly string[]> = {
  Property: ['key'],
  PropertyDefinition: ['key'],
  MethodDefinition: ['key'],
  MemberExpression: ['property'],
  ExportNamedDeclaration: ['source'],
}

function childrenOf(node: Node): Node[] {
  const skipped = node.computed === true ? [] : (keys[node.type] ?? [])
  return Object.entries(node)
    .filter(([name]) => !skipped.includes(name))
    .flatMap(([, value]) => nodesOf(value))
    .filter((child) => !notRun.test(child.type))
}

function nodesOf(value: unknown): Node[] {
  return (Array.isArray(value) ? value : [value]).filter(isNode)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value && 'end' in value
}

function lineCounter(source: string): (offset: number) => number {
  const starts = [...source.matchAll(/\n/g)].map(({ index }) => index)
  return (offset) => starts.filter((start) => start < offset).length + 1
}
