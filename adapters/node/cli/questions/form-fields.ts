import type { InputRequestedEvent } from '../../../../src/contract/run/call-event.ts'
import type { JsonValue } from '../../../../src/index.ts'

/** A form field in a terminal. */
export interface FormField {
  name: string
  /** Text above the field. Empty if the name suffices. */
  description: string
  /** Allowed input. */
  expected: string
  choices: readonly { value: string; title: string }[]
  preset: JsonValue | undefined
  /** Parses the input. Returns `undefined` for a missing required value. */
  read(text: string): { value?: JsonValue } | { problem: string }
}

type Schema = Readonly<Record<string, unknown>>

/** Returns the fields of the form that `event` requests. */
export function fieldsOf({ schema }: Pick<InputRequestedEvent, 'schema'>): FormField[] {
  const { properties, required }: Schema = Object(schema)
  const needed: unknown[] = Array.isArray(required) ? required : []
  return Object.entries(Object(properties)).map(([name, given]) => fieldOf(name, Object(given), needed.includes(name)))
}

function fieldOf(name: string, schema: Schema, isNeeded: boolean): FormField {
  const isList = schema.type === 'array'
  const choices = choicesOf(isList ? Object(schema.items) : schema)
  const expected = choices.length === 0 ? (words[String(schema.type)] ?? 'JSON') : isList ? 'numbers, separated by commas' : 'a number'
  const preset = schema.default as JsonValue | undefined // the request is JSON
  const value = (text: string) => (choices.length === 0 ? typed(schema, text) : isList ? picked(choices, text) : one(choices, text))
  return {
    name,
    description: [schema.title, schema.description].filter((text) => typeof text === 'string' && text !== name).join(': '),
    expected: isNeeded || preset !== undefined ? expected : `${expected}, optional`,
    choices,
    preset,
    read: (text) => {
      if (text.trim() !== '') return value(text.trim())
      if (preset !== undefined) return { value: preset }
      return isNeeded ? { problem: 'This field is required.' } : {}
    },
  }
}

const words: Readonly<Record<string, string>> = { string: 'text', number: 'a number', integer: 'a whole number', boolean: 'y or n' }

function choicesOf({ enum: values, enumNames, oneOf, anyOf }: Schema): { value: string; title: string }[] {
  const titles: unknown[] = Array.isArray(enumNames) ? enumNames : []
  if (Array.isArray(values)) return values.map((value, at) => ({ value: String(value), title: String(titles[at] ?? value) }))
  const titled = oneOf ?? anyOf
  if (!Array.isArray(titled)) return []
  return titled.flatMap((option) => {
    const { const: value, title = value }: Schema = Object(option)
    return value === undefined ? [] : [{ value: String(value), title: String(title) }]
  })
}

type Reading = { value: JsonValue } | { problem: string }

function one(choices: FormField['choices'], text: string): Reading {
  const found = choices.find(({ value }) => value === text) ?? (/^\d+$/.test(text) ? choices[Number(text) - 1] : undefined)
  return found === undefined ? { problem: `Enter a number from 1 to ${choices.length}.` } : { value: found.value }
}

function picked(choices: FormField['choices'], text: string): Reading {
  const values: string[] = []
  for (const part of text.split(',')) {
    const reading = one(choices, part.trim())
    if ('problem' in reading) return { problem: `Enter numbers from 1 to ${choices.length}, separated by commas.` }
    values.push(String(reading.value))
  }
  return { value: [...new Set(values)] }
}

function typed({ type, minimum = -Infinity, maximum = Infinity }: Schema, text: string): Reading {
  if (type === 'string') return { value: text }
  if (type === 'boolean') {
    const isYes = /^(y|yes|true)$/i.test(text)
    return isYes || /^(n|no|false)$/i.test(text) ? { value: isYes } : { problem: 'Enter y or n.' }
  }
  if (type === 'number' || type === 'integer') {
    const value = Number(text)
    const fits = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)
    if (!fits) return { problem: type === 'integer' ? 'Enter a whole number.' : 'Enter a number.' }
    if (value < Number(minimum)) return { problem: `Enter at least ${minimum}.` }
    return value > Number(maximum) ? { problem: `Enter at most ${maximum}.` } : { value }
  }
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { problem: 'Enter valid JSON.' }
  }
}
