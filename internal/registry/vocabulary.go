package registry

// vocabulary is what people say when they need something of a domain: English,
// Korean, German, French, Spanish, a line each. Words that mean several things
// are left out: a reading that says nothing costs less than a wrong one.
var vocabulary = map[Domain]string{
	LiveData: `weather, forecast, temperature, stock price, stock quote, exchange rate, currency, right now, currently, latest, today, live score, flight status, traffic, news, headline*, price of
		날씨, 기온, 예보, 환율, 주가, 시세, 지금, 현재, 오늘, 실시간, 최신, 뉴스, 속보, 교통, 항공편, 미세먼지
		wetter, vorhersage, wechselkurs, aktienkurs, aktuell*, heute, nachrichten, verkehrslage
		météo, prévision*, taux de change, cours de l action, aujourd hui, actualité*, en ce moment
		el tiempo, clima, pronóstico, tipo de cambio, cotización, hoy, noticias, ahora mismo`,
	Web: `http, https, www, website*, web page*, webpage*, url*, link*, google, look up online, search the web, web search, online, browse*, internet, download*, scrap*, crawl*, wikipedia
		웹, 인터넷, 홈페이지, 사이트, 링크, 검색해, 구글, 위키, 온라인, 다운로드, 내려받, 크롤링, 브라우저
		webseite*, im internet, im netz, herunterladen, googeln
		site web, page web, sur internet, en ligne, télécharge*
		página web, sitio web, en internet, en línea, descarga*`,
	Filesystem: `file, files, filename*, folder*, directory, directories, path, disk, rename, unzip, zip, upload*, attachment*, csv, txt
		파일, 폴더, 디렉터리, 디렉토리, 경로, 디스크, 압축, 첨부
		datei*, ordner, verzeichnis*, pfad, festplatte, anhang
		fichier*, dossier*, répertoire*, chemin, pièce jointe
		archivo*, fichero*, carpeta*, directorio*, ruta, adjunto*`,
	CodeExec: `run the code, run this code, execute, script*, python, javascript, typescript, node, bash, shell, compile, compute, calculate, calculation*, regex, unit test*, debug*, program*
		코드, 스크립트, 실행, 파이썬, 자바스크립트, 계산, 컴파일, 디버그, 디버깅, 정규식, 셸, 프로그램
		ausführ*, skript*, berechn*, ausrechn*, programmier*, rechne
		exécut*, calcul*, script, programme*
		ejecut*, calcul*, programa*`,
	Memory: `remember*, recall, memory, memories, last time, previously, you told me, i told you, note this, keep in mind, don t forget, my preference*, knowledge base, notes
		기억, 지난번, 저번에, 예전에, 메모, 잊지, 내 취향, 지식 베이스, 노트
		merk dir, erinner*, letztes mal, notiz*, vergiss nicht
		souviens, rappelle*, mémoire, la dernière fois, n oublie pas
		recuerd*, memoria, la última vez, no olvides, anota`,
	Messaging: `email*, e mail*, mail, mails, inbox, slack, mattermost, teams, discord, telegram, message*, reply, chat, channel*, sms, notify, notification*, send to, dm
		메일, 이메일, 받은 편지함, 메시지, 답장, 슬랙, 매터모스트, 채널, 문자, 알림, 카톡, 카카오톡, 보내
		nachricht*, antworte*, posteingang, benachrichtig*, schick*
		courriel*, message*, répond*, boîte de réception, envoie*, notifi*
		correo*, mensaje*, respond*, bandeja, envía, notific*`,
	Documents: `document*, pdf*, docx, word document, spreadsheet*, excel, xlsx, slide*, presentation*, powerpoint, report, reports, summar*, translate*, notion, confluence, wiki, google docs, contract*, invoice*
		문서, 보고서, 스프레드시트, 엑셀, 슬라이드, 발표 자료, 프레젠테이션, 요약, 번역, 계약서, 청구서, 위키 문서, 한글 파일
		dokument*, bericht*, tabelle*, präsentation*, zusammenfass*, übersetz*, vertrag, rechnung*
		document*, rapport*, tableur, présentation*, résum*, tradui*, contrat*, facture*
		documento*, informe*, hoja de cálculo, presentación, resum*, traduc*, contrato*, factura*`,
	Orchestration: `schedule*, workflow*, pipeline*, deploy*, kubernetes, k8s, docker, container*, pod, pods, job, jobs, cron*, delegate, sub agent*, subagent*, worker*, automate, automation*, rollout, terraform, cluster*
		일정, 예약, 워크플로, 파이프라인, 배포, 쿠버네티스, 도커, 컨테이너, 작업, 자동화, 위임, 클러스터, 롤아웃
		zeitplan, ablauf, ausrollen, automatisier*, bereitstell*, delegier*
		planifi*, déploi*, déploy*, automatis*, délègu*, conteneur*
		programar, despleg*, despliegue*, automatiz*, deleg*, contenedor*`,
	VCS: `git, github, gitlab, bitbucket, commit*, branch*, merge*, pull request*, merge request*, repo, repos, repository, repositories, diff, rebase, code review*, issue, issues, pr, prs
		깃, 깃허브, 깃랩, 커밋, 브랜치, 병합, 머지, 풀 리퀘스트, 저장소, 리포지토리, 코드 리뷰, 이슈
		zweig, zusammenführ*, quelltextverwaltung
		dépôt*, fusionn*, branche*
		repositorio*, rama, fusionar`,
	Observability: `log, logs, metric*, monitor*, alert*, grafana, prometheus, datadog, sentry, trace*, latency, uptime, outage*, incident*, dashboard*, error rate, cpu, memory usage, downtime
		로그, 지표, 메트릭, 모니터링, 경보, 알람, 그라파나, 프로메테우스, 지연 시간, 장애, 대시보드, 에러율, 오류율, 가동률
		protokoll*, überwach*, ausfall, störung*, kennzahl*
		journaux, surveill*, alerte*, panne*, incident*, tableau de bord
		registros, monitoriz*, alerta*, caída, incidente*, panel`,
	ControlPlane: `capstore, capability, capabilities, adopt*, unadopt*, publish*, my tools, my agent, mcp server*, skill, skills, workspace, workspaces, secret, secrets, api token*, policy, policies, permission*, invite*, member, members, deprecat*, the store, hook, hooks
		캡스토어, 역량, 채택, 게시, 내 도구, 내 에이전트, 스킬, 워크스페이스, 비밀 값, 시크릿, 토큰, 정책, 권한, 초대, 구성원, 멤버, 스토어, 훅
		fähigkeit*, veröffentlich*, arbeitsbereich*, geheimnis*, richtlinie*, berechtigung*, mitglied*, einlad*
		capacité*, adopt*, publi*, espace de travail, secret*, politique*, autorisation*, membre*, invit*
		capacidad*, adopt*, publi*, espacio de trabajo, secreto*, política*, permiso*, miembro*, invit*`,
}
