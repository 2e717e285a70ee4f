import { globSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Shape } from '../../src/contract/shape/shape.ts'
import { readSources } from '../harness/source.ts'

/** Other lists that happen to have the same words. */
const allowed: readonly (readonly [path: string, reason: string])[] = [
  ['src/store/state.ts', 'where a call of ours stands: not every word is one of a service tool, and some are ours alone'],
  ['src/mcp/client-like.ts', 'what MCP calls the answers to an elicitation'],
  ['src/providers/openai/decode/chat-decoder.ts', 'how the decoder tells blocks apart, in the order in which it looks'],
]

/** Efforts of models are written down per model; how long an answer is has the same three words. */
const coincidence = /\.verbosity$/

type Lists = ReadonlyMap<string, readonly string[]>

/** Every list of words and every table of fields that `src/contract` exports, or uses within, by where it is found. */
async function contractLists(): Promise<{ words: Lists; fields: Lists }> {
  const [lists, tables] = [new Map<string, readonly string[]>(), new Map<string, readonly string[]>()]
  const seen = new Set<Shape>()
  const visit = (shape: Shape, path: string): void => {
    if (seen.has(shape)) return
    seen.add(shape)
    const { form } = shape
    if (form.of === 'word') lists.set(path, form.words)
    else if (form.of === 'object') {
      tables.set(path, Object.keys(form.fields))
      for (const [name, field] of form.entries) visit(field, `${path}.${name}`)
    } else if (form.of === 'tagged') {
      lists.set(`tags of ${path}`, [...form.variants.keys()])
      for (const [tag, variant] of form.variants) visit(variant, `${path}.${tag}`)
    } else if (form.of === 'list' || form.of === 'record') visit(form.item, `${path}[]`)
    else if (form.of === 'either') for (const each of form.shapes) visit(each, path)
    else if (form.of === 'written') visit(form.whole, path)
  }
  for (const path of globSync('src/contract/**/*.ts').filter((file) => !/[\\/]shape[\\/]/.test(file))) {
    const exported: object = await import(new URL(`../../${path}`, import.meta.url).href)
    for (const [name, value] of Object.entries(exported)) if (isShape(value)) visit(value, name)
  }
  return { words: lists, fields: tables }
}

function isShape(value: unknown): value is Shape {
  return typeof value === 'object' && value !== null && 'form' in value && 'expected' in value
}

const runOfTexts = /'[\w-]+'(?:\s*[,|]\s*'[\w-]+'){2,}/g

it('no list of words has a second home', async () => {
  const { words: lists } = await contractLists()
  expect(lists.size).toBeGreaterThan(15)
  const found: string[] = []
  for (const [path, code] of readSources('src', 'adapters')) {
    if (path.startsWith('src/contract/')) continue
    for (const { 0: run, index } of code.matchAll(runOfTexts)) {
      const words = Array.from(run.matchAll(/'([\w-]+)'/g), ([, word = '']) => word)
      for (const [name, list] of lists) {
        if (list.length < 3 || coincidence.test(name)) continue
        const same = list.filter((word) => words.includes(word))
        if (same.length < 3 || same.length < list.length * 0.75 || allowed.some(([place]) => path === place)) continue
        found.push(`${path}:${code.slice(0, index).split('\n').length} ${name}: ${same.join(' ')}`)
      }
    }
  }
  expect(found).toEqual([])
})

/** Entries of a table of checks: `name: aText`, `name: required(…)`, `name: z.string()`. */
const runOfChecks =
  /(?:^|[{,]\s*)(?:'?\w+\??'?:\s*(?:z\.|a[A-Z]\w*|string|number|count|required\(|optional\(|listOf\(|list\(|oneOf\()[^\n]*\n?\s*){4,}/gm

it('no table of fields has a second home', async () => {
  const { fields } = await contractLists()
  expect(fields.size).toBeGreaterThan(40)
  const found: string[] = []
  for (const [path, code] of readSources('src', 'adapters')) {
    if (path.startsWith('src/contract/')) continue
    for (const { 0: run, index } of code.matchAll(runOfChecks)) {
      const names = Array.from(run.matchAll(/(\w+)\??'?:/g), ([, name = '']) => name)
      for (const [shape, table] of fields) {
        const same = table.filter((name) => names.includes(name))
        if (same.length < 4 || same.length < table.length * 0.75 || allowed.some(([place]) => path === place)) continue
        found.push(`${path}:${code.slice(0, index).split('\n').length} ${shape}: ${same.join(' ')}`)
        break
      }
    }
  }
  expect(found).toEqual([])
})
