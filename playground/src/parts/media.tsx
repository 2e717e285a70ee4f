import { useSignal } from '@preact/signals'
import type { FileContent, ImageContent } from '../../../src/index.ts'
import { escapeControls } from '../../../src/store.ts'
import { download } from './download.ts'
import { Icon } from './icon.tsx'
import { IconButton } from './icon-button.tsx'
import { mediaName, pictureUrl, sizeOf } from './media-facts.ts'

/** An image or a file in a message. Images are shown. Anything else can be downloaded, and is never opened in the page. */
export function Media({ block, alt }: { block: ImageContent | FileContent; alt: string }) {
  const shown = pictureUrl(block)
  return (
    <figure class="media" data-testid="media" data-kind={shown === undefined ? 'file' : 'picture'}>
      {shown !== undefined && <img class="image" alt={alt} src={shown} />}
      <figcaption class="media-line">
        {shown === undefined && <Icon name="file" />}
        <span class="media-name">{escapeControls(mediaName(block))}</span>
        <span class="media-facts">{[escapeControls(block.mimeType), placeOf(block)].join(' · ')}</span>
        <Fetch block={block} />
      </figcaption>
    </figure>
  )
}

/** Opens or saves the file, if its URL or bytes are available. */
function Fetch({ block }: { block: ImageContent | FileContent }) {
  const failure = useSignal('')
  const { data, url, mimeType } = block
  if (url !== undefined) {
    // Values from a provider or a session file are checked before use as a URL.
    if (!/^https?:\/\//i.test(url)) return null
    return (
      <a class="external" href={url} target="_blank" rel="noopener noreferrer nofollow">
        Open
      </a>
    )
  }
  if (data === undefined) return null
  const name = mediaName(block)
  const save = () => {
    try {
      download({ name, type: mimeType, content: Uint8Array.from(atob(data), (character) => character.charCodeAt(0)) })
    } catch {
      failure.value = 'Cannot save the file: its bytes are damaged.'
    }
  }
  return (
    <>
      <IconButton icon="download" label={`Download ${escapeControls(name)}`} onClick={save} />
      <span role="status">{failure.value}</span>
    </>
  )
}

function placeOf(block: ImageContent | FileContent): string {
  if (block.data !== undefined) return sizeOf(block)
  return block.url === undefined ? 'stored by the provider' : (URL.parse(block.url)?.host ?? 'no address')
}
