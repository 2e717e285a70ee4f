import type { JsonSchema } from '../../../../contract/json.ts'

/** What one service takes in a JSON Schema, for one use of it. All else is left out, told, and still checked on what comes back. */
export interface Dialect {
  /** Where that is said. */
  source: string
  /** The keywords that are sent. Absent: all but those of `without`. */
  keywords?: ReadonlySet<string>
  without?: ReadonlySet<string>
  /** The keywords that are sent at the root. Absent: those of everywhere. */
  rootKeywords?: ReadonlySet<string>
  /** At the root stands an object, and neither a union nor a condition. */
  hasObjectRoot?: true
  /** The values of `format` that are sent. Absent: all. */
  formats?: ReadonlySet<string>
  /** What may stand in `enum`. Absent: anything. */
  enums?: ReadonlySet<string>
  /** `closed`: every object names its properties and takes no others. `complete`: it also demands all of them. */
  objects?: 'closed' | 'complete'
  /** What a property may be called. Absent: anything. */
  propertyNames?: RegExp
  /** The largest `minItems` that is sent. */
  maxMinItems?: number
  /** Beside `$ref` stands nothing. */
  isReferenceAlone?: true
  /** A schema that refers to itself is refused. */
  refusesRecursion?: true
  /** `type` names one type, a union the others. */
  hasSingleTypes?: true
  /** Beside `anyOf` stands no `type`. */
  hasTypesInUnions?: true
  /** Every list says what is in it. */
  namesItems?: true
  /** Expressions that look ahead or behind, or refer back, are refused. */
  hasPlainPatterns?: true
}

/** The words of `text`. */
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

/** Claude's own format, and that of Bedrock, which lists the same. */
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

/** One row for each service and use. */
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

/** A schema as a service takes it. */
export interface FittedSchema {
  schema: JsonSchema
  /** What was left out, and where: `minimum of amount`. */
  leftOut: readonly string[]
  /** Why the service cannot be held to it, where it cannot. */
  unheld?: string
}
