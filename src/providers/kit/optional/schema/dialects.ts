import type { JsonSchema } from '../../../../contract/json.ts'

/**
 * JSON Schema features that a provider accepts for one use. Other features are dropped with a warning, but still checked in the response.
 */
export interface Dialect {
  /** URL of the documentation. */
  source: string
  /** Keywords to send. Absent: all except `without`. */
  keywords?: ReadonlySet<string>
  without?: ReadonlySet<string>
  /** Keywords to send at the root. Absent: the same as elsewhere. */
  rootKeywords?: ReadonlySet<string>
  /** Whether the root must be an object without unions and conditions. */
  hasObjectRoot?: true
  /** Values of `format` to send. Absent: all. */
  formats?: ReadonlySet<string>
  /** Value types allowed in `enum`. Absent: all. */
  enums?: ReadonlySet<string>
  /** `closed`: every object lists its properties and allows no others. `complete`: it also requires all of them. */
  objects?: 'closed' | 'complete'
  /** Allowed property names. Absent: all. */
  propertyNames?: RegExp
  /** The largest `minItems` to send. */
  maxMinItems?: number
  /** Whether `$ref` must not have siblings. */
  isReferenceAlone?: true
  /** Whether recursive schemas are rejected. */
  refusesRecursion?: true
  /** Whether `type` must be a single type, so that several types need a union. */
  hasSingleTypes?: true
  /** Whether `anyOf` must not have the sibling `type`. */
  hasTypesInUnions?: true
  /** Whether every array must define its items. */
  namesItems?: true
  /** Whether lookahead, lookbehind and back references in patterns are rejected. */
  hasPlainPatterns?: true
}

/** Splits `text` into words. */
export const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const anthropicTools = 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use'
const anthropicFormats = 'https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations'
const openAiFormats = 'https://platform.openai.com/docs/guides/structured-outputs#supported-schemas'
const openAiTools = 'https://platform.openai.com/docs/guides/function-calling, and its error "Invalid schema for function"'
const geminiSchemas =
  'https://googleapis.github.io/kotlin-genai/google-genai-kotlin/com.google.genai.kotlin.types/-generate-content-config/response-json-schema.html'
const novaTools = 'https://docs.aws.amazon.com/nova/latest/userguide/tool-use-definition.html'
const bedrockFormats = 'https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html'
const moonshotTools = 'https://github.com/MoonshotAI/kimi-code/issues/2661: "not a valid moonshot flavored json schema"'

const heldKeywords = words(
  'type title description properties required additionalProperties items minItems enum const anyOf $ref $defs format pattern default',
)
const heldFormats = words('date-time time date duration email hostname uri ipv4 ipv6 uuid')
const scalars = words('string number boolean null')

/** Dialect for Claude. Bedrock documents the same rules. */
const held: Omit<Dialect, 'source'> = {
  keywords: heldKeywords,
  formats: heldFormats,
  enums: scalars,
  objects: 'closed',
  maxMinItems: 1,
  refusesRecursion: true,
  hasSingleTypes: true,
  hasPlainPatterns: true,
}

/** One row per provider and use. */
export const dialects = {
  claudeTools: { source: anthropicTools, hasObjectRoot: true, propertyNames: /^[a-zA-Z0-9_.-]{1,64}$/ },
  claudeFormat: { source: anthropicFormats, ...held },
  bedrockFormat: { source: bedrockFormats, ...held },
  novaTools: {
    source: novaTools,
    hasObjectRoot: true,
    rootKeywords: words('type properties required'),
    without: words('$ref $defs definitions'),
  },
  openAiTools: {
    source: openAiTools,
    hasObjectRoot: true,
    namesItems: true,
    hasPlainPatterns: true,
    without: words('propertyNames'),
  },
  openAiFormat: { source: openAiFormats, hasObjectRoot: true, namesItems: true, hasPlainPatterns: true },
  openAiStrict: {
    source: openAiFormats,
    keywords: words(
      'type title description properties required additionalProperties items enum const anyOf $ref $defs format pattern ' +
        'multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems',
    ),
    formats: words('date-time time date duration email hostname ipv4 ipv6 uuid'),
    hasObjectRoot: true,
    objects: 'complete',
    isReferenceAlone: true,
    namesItems: true,
    hasPlainPatterns: true,
  },
  gemini: {
    source: geminiSchemas,
    keywords: words(
      '$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties ' +
        'additionalProperties required propertyOrdering',
    ),
    enums: words('string number'),
    isReferenceAlone: true,
    namesItems: true,
  },
  moonshotTools: {
    source: moonshotTools,
    hasObjectRoot: true,
    keywords: words(
      'type title description default properties required additionalProperties items minItems maxItems enum anyOf $ref $defs minLength maxLength pattern ' +
        'minimum maximum',
    ),
    isReferenceAlone: true,
    hasTypesInUnions: true,
    namesItems: true,
    hasPlainPatterns: true,
  },
} as const satisfies Record<string, Dialect>

/** The name of a row. */
export type SchemaDialect = keyof typeof dialects

/** A schema in a provider's dialect. */
export interface FittedSchema {
  schema: JsonSchema
  /** Dropped keywords with their locations, such as `minimum of amount`. */
  leftOut: readonly string[]
  /** Reason why the provider cannot enforce the schema, if any. */
  unheld?: string
}
