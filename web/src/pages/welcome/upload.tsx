import { Alert, Form, FormGroup, FormHelperText, HelperText, HelperTextItem, TextInput } from '@patternfly/react-core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { client, dataOf } from '../../api/client.ts'
import type { AddedRelease } from '../../api/documents.ts'
import { CommandLine } from '../../components/command-line.tsx'
import { ProblemDetails } from '../../components/problem-details.tsx'
import { keys } from '../../data/keys.ts'
import { refusalOfWrite } from '../../writes/refusal.ts'
import { useWriteSituation } from '../../writes/use-write-situation.ts'
import { WriteButton } from '../../writes/write-button.tsx'
import { largestFile, nameIn } from './release-file.ts'

/** Adds a signed ClusterRelease from a file. The server and each host verify its signature. */
export function Upload({ added }: { added: (release: AddedRelease) => void }) {
  const { t } = useTranslation()
  const cache = useQueryClient()
  const refusal = refusalOfWrite('PutRelease', useWriteSituation())
  const [file, setFile] = useState<{ name: string; content: string }>()
  const [name, setName] = useState('')
  const [tooLarge, setTooLarge] = useState(false)
  const upload = useMutation({
    mutationFn: (content: string) => dataOf(client.PUT('/api/v1alpha1/releases/{name}', {
      params: { path: { name: name.trim() } }, body: content, bodySerializer: (body) => body, headers: { 'Content-Type': 'application/yaml' },
    })),
    onSuccess: (release) => {
      void cache.invalidateQueries({ queryKey: keys.state })
      added(release)
    },
  })
  const take = async (picked: File | undefined) => {
    upload.reset()
    setFile(undefined)
    setTooLarge(picked !== undefined && picked.size > largestFile)
    if (!picked || picked.size > largestFile) return
    const content = await picked.text()
    setFile({ name: picked.name, content })
    setName(nameIn(content))
  }
  const ready = file !== undefined && name.trim() !== ''
  return (
    <Form onSubmit={(event) => event.preventDefault()}>
      <FormGroup label={t('upload.file')} fieldId="release-file">
        <input
          id="release-file" type="file" accept=".yaml,.yml,.json" className="refit-file" aria-describedby="release-file-help"
          onChange={(event) => void take(event.target.files?.[0])}
        />
        <FormHelperText><HelperText id="release-file-help"><HelperTextItem variant={tooLarge ? 'error' : 'default'}>
          {tooLarge ? t('upload.tooLarge') : t('upload.fileHelp')}
        </HelperTextItem></HelperText></FormHelperText>
      </FormGroup>
      {file && (
        <FormGroup label={t('upload.name')} fieldId="release-name" isRequired>
          <TextInput id="release-name" value={name} onChange={(_, value) => setName(value)} autoComplete="off" spellCheck="false" isRequired />
        </FormGroup>
      )}
      {upload.error && (
        <Alert isInline variant="danger" title={t('upload.failed')} component="h3" role="alert"><ProblemDetails error={upload.error} /></Alert>
      )}
      {upload.data && <Added release={upload.data} />}
      <div className="refit-row">
        <WriteButton
          variant="secondary" refusal={refusal} busy={upload.isPending} reason={ready ? undefined : t('upload.noFile')}
          onClick={() => file && upload.mutate(file.content)}
        >
          {t('upload.submit')}
        </WriteButton>
      </div>
      <p className="refit-muted">{t('upload.otherwise')} <CommandLine command={`kubectl apply -f ${file?.name ?? 'release.yaml'}`} /></p>
    </Form>
  )
}

function Added({ release }: { release: AddedRelease }) {
  const { t } = useTranslation()
  const { name, kubernetes, keyID, trust, existed } = release
  return (
    <Alert
      isInline variant={trust === 'Verified' ? 'success' : 'warning'} component="h3" role="status"
      title={t(existed ? 'upload.existed' : 'upload.added', { name, kubernetes })}
    >
      <p>{t(trust === 'Verified' ? 'upload.verified' : 'upload.unverified', { key: keyID })}</p>
    </Alert>
  )
}
