import re,os
# chain: list of "file: f1 f2 ..." ; verifies 'func f(' / 'init(' / 'var f' in file
OLD='old/'; NEW='house/'
def find(root,name):
    for d,_,fs in os.walk(root):
        if '/.build' in d or '/Tests' in d: continue
        if name in fs: yield os.path.join(d,name)
def run(label,root,text):
    n=0;files=0;miss=[]
    for line in text.strip().split('\n'):
        f,fs=line.split(':',1); fs=fs.split(); files+=1; n+=len(fs)
        paths=[p for p in find(root,f.strip()+'.swift')]
        src=''.join(open(p).read() for p in paths)
        if not paths: miss.append(f)
        from collections import Counter
        for name,c in Counter(fs).items():
            k=len(re.findall(r'(?:func|var) `?'+re.escape(name)+r'\b|'+(r'\binit[?(<]' if name=='init' else r'$^'),src))
            if k<c: miss.append(f+'.'+name)
    print(f'{label}: {n} functions, {files} files', 'MISSING '+str(miss) if miss else '')
A_common='''Coffer: start work
%s
Prompt: ask nextByte
Descriptor: read
TypedLine: append finish
Secret: truncate isEqual duplicate
%s
Confirmation: confirmations
ItemService: carryOut add
Vault: transaction
FileStore: commit guarding
SideLock: withLock
OpenVault: write transact
Transaction: add insert edit finish seal
RecordSeal: seal
SecretBox: seal sealUnpadded
Padding: pad
SealedRecord: init
Digest: hash
Change+Apply: apply check write onlyRemoves
Store: isEmpty
Statement: bind step
'''
run('a old',OLD,A_common%('SecretSet: run checked\nSecretSource: read\nPerson: askTwice twice','''FailureOfError: about
Keychain+Items: add answer
InProcessTransport: answer
Call+Name: itemOperation
Call+Group: group item
Call+Reading: isReading reading
Call+Notices: intention''')+'Secret+Parts: write write\nConnection: with commit run run\n')
run('a new',NEW,A_common%('SecretSet: run checked\nPerson: askTwice','''Explanation: about
Keychain+Items: add
InProcessTransport: answer
Request: kind subject intention''')+'Secret+Parts: write write write\nConnection: with commit run\n')
B='''UserDefaults: set object
NonPropertyListTrap: orTrap
FileDomain+Writing: keep set check isSaved change entry checkSize
ValueCoding: byteCount append read
JournalRecord: append append checksum
ByteWriting: append replace number take text
CRC32C: checksum
Retrying: retrying
ChangeCollector: note
GenerationPage: commit store announce load
SearchCache: read find fill
SearchStructure: search
JournalScan: init next isValid forEachEntry decode
'''
run('b old',OLD,B+'''PropertyListConversion: init convert
FoundationValues: foundationValue
UserDefaults+Writing: write
SecretPolicy: checkForSecret
FileDomain: withState read value
FileDomain+Editing: edit edit editOnce
JournalImage: byteCount apply apply set read
DomainState+Writing: appendWithUnsaved append write commit mark
OpenFile: write read
PropertyListValue: update
SearchList+Reading: value read
ThreadSearchCaches: withCache
DomainState: refresh follow readTail readTail value
''')
run('b new',NEW,B+'''PropertyListConversion: init convert foundationValue
UserDefaults+Writing: write checkForSecret
FileDomain: withState value
FileDomain+Editing: edit editOnce
JournalImage: byteCount apply apply read
DomainState+Writing: appendWithUnsaved append commit
OpenJournal: append mark
File: write read
PropertyListValue: update
SearchList+Reading: value
ThreadSearchCaches: read
DomainState: refresh readTail readTail value
''')
C='''Vault+Items: secret
Vault: reading
FileStore: read guarding
OpenVault: read
StoredRows: secret query
Connection: with
Statement: bytes
ProvenState: secret openSecret openSecret seal
RecordSeal: open
SecretBox: open open openUnpadded openUnpadded
Padding: unpad
ItemService: carryOut
Confirmation: asks
Caller: check
Entitlements: check
'''
run('c old',OLD,C+'''Gate: decide
Secret+Parts: byte
Conversation: run answer decided facts done log
FrameChannel: receive take fill room permit send init message
FrameHeader: init init integer array bytes append
Operation: maximumBodyByteCount isRequest
Message: init init open frame count write
Call: parse parse hasPart
Fields: init reference identifier group required text take take end
Call+Group: group item
Call+Reading: secretReference isReading reading
ConfirmationExemptions: holds
AgentVault: answer read
Answer: frames
''')
run('c new',NEW,C+'''Gate: decide withRights
Conversation: run decided facts done append
FrameChannel: receive take fill room permit send
FrameHeader: init init init integer array bytes append rawValue maximumBodyByteCount
RequestKind: traits
Message: init open frame count
Secret+Parts: byte write
Request+Frames: parse parse
Fields: init reference identifier requiredGroup group required requiredText text take end end
Request: subject subject reading
PolicyEpoch: holds secretReference
AgentVault: answer read
Answer+Frames: frames
''')
