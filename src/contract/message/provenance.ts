import { aNumber, aText, type Infer, oneOf, tagged } from '../shape/shape.ts'

/** The part a message of a turn plays, in words. */
export const provenanceRole = oneOf('userMessage', 'assistantResponse', 'toolCallRequest', 'toolCallResult')
/** The part a message of a turn plays. Source: docs/concepts/request-capture.md */
export type ProvenanceRole = Infer<typeof provenanceRole>

/** A kind of another version passes: nothing but a capture shows it. */
export const blockProvenance = tagged(
  'kind',
  {
    systemPrompt: {},
    identityBlock: { name: aText, order: aNumber },
    memoryTier: { tier: aText, recordId: aText },
    loopTurn: { turnIndex: aNumber, role: provenanceRole, messageIndex: aNumber },
    steering: {},
    followUp: {},
    background: { backgroundId: aText, toolName: aText },
    /** The SDK wrote it, in the place of what is not sent. */
    runtime: {},
    unknown: {},
  },
  'all',
)

/** Where a block of a request came from. Source: docs/concepts/request-capture.md */
export type BlockProvenance = Infer<typeof blockProvenance>
