½ etc5
1é « &lt; YZ本
Z 日
&apos; a
5 &gt; s &quot; , ٣
 .
&#91;  e.g &#93; É1 &amp; amp ; 7
&amp; € 3.14ª日e - mail „ ”
&#91; &amp; quot ; e - mail ?
İ € &apos; @ - @ “
. »
&apos; : … ٣sNr9 &apos; s  &apos; 1,000
” 7Z @ ’ &amp; quot ; Nr
&amp; quot ; .p.m  3.14 “ $ &amp; amp ; · Nr .. c
,5sa &apos; .
½ ½ € a
# &quot; 本 # &amp; apos ;
3.14ß` : a )
`b … &#91; / $ a-٣ª
&apos; 1,000 » Noetcwww.x.yn &apos; t5 ”
5s a &apos; 5 &apos; s ,
5 a ́ : ª1éMrX
Mrß : e.g
😀 é ’ . , …
ss.5,5- .
; Σc &amp; İé-1,000 X &apos; sİ
Z &amp; quot ; / Σé ( &apos; &apos; ll &gt; ª
&gt; &#93; ! Dr` &#124;
@ - @ XX # ’ /
.. “ @ - @ .. éa &gt; ` ’
‘ NoMra
.. p.mausw. · EU : n &amp; amp ; d &apos; &#124; ‘
-5 s 5 ,
X :
, s- , , aa5 , &apos; &apos; a
« ! &apos; s
&apos; n &apos; t &apos; ” usw
, , as , a , ,
@ - @ . 3.14Σİ ‘
EU : n
s &apos; ll1 « “
7 — Mr « 😀 » &#124; 1,000 # “ » ª
&apos; . &apos; s , 5 s
! 日9 &lt; Nr &apos; EU : n.e - mail : &amp; amp ;
- % &quot; 1,000 &gt; 1
; Nr &gt; ; &amp; apos ; 本 » ²
&apos; Z @ - @
” — &amp; apos ; c ·
, » 7 , EU : n` a / @
&#91; @ d &apos; &apos; 日www.x.y / ² : ª »  €
#
etc9 @
5.5 &apos; 5.5sa-
, a &apos; 5 ,
&#124; .Dr
&amp; , “ « www.x.y ) @ .. c % Ybc
&#93; n &apos; t &amp; quot ; ? www.x.y usw @ - @ &apos; ll
. &apos; &apos; - &apos; ,
,
n &apos; t % 本 ; aNrß « Nr $
, s ” &#91; ; @ “ a / é ,
.
a , ß
« etc &#124; ? «
/ Z
s ½ c &apos; &apos; Dr`aİ
-s
Nop.m-s &amp; amp ; » Dr日 @ - @ &amp; quot ; « &quot;
a &apos; 5aa , -5 saa &apos;
”
@ - @ &apos; sZd &apos; 7 &amp; quot ; % 9 / ! &amp; `
@ - @ 9 &amp; apos ; $ s &#124; 9
% etcl &apos; 1,000 &apos; No
‘
www.x.y11,000 &lt; www.x.y
Σ $ „ „ „ &apos; ll . &#124; .a ’
9 « “ @ · &amp; &amp; 9
l &apos; İ /
.5-
½ X ; a … 3.14 “ ²
٣ .. ß
, a d &apos; &apos; ½ . &#124; &amp; amp ; bn &apos; t , % É
9é日d &apos; # 5
usw
? @ 本
&apos; llÉEU : n日
&apos; 5a s , .sa , , s
&apos; % n &apos; tn &apos; tetc
! &apos; ‘ Nr ½ . ( p.m ; 9
€ &gt; “ , &apos; s “ 日 &quot; &#93; ? Z
Z ! É / ́ &#124; cl &apos;
&apos; .-as
&apos; 3.14 « İDr &lt;
· ² p.m “
c &apos; Y日 &amp; apos ;
&amp; quot ; &amp; amp ; a9Nod &apos; 1,000www.x.y ? &gt; : :
@ - @ &amp; quot ; p.m &apos; s ” a e - mailsa
Y &apos; &apos; %
&amp; quot ; &apos; s , 19 &apos; İ
. &apos; a
” # p.m ?
? XⅧ
c &#93; @ - @ p.m
Nr日É`
&apos; &amp; amp ; ٣é3.14 ½ &#124; a , n &apos; t « 7
. &apos; ll &#93; `
&apos; s , No €
&amp; amp ; p.m -
&apos;
-٣5 &amp; apos ; &#91; ½ “ &amp; amp ;
( ,
İl &apos; „ Y.Nr @ - @ ßÉ , —
a
٣ . &apos; s &amp; ß
.本Z5 &amp; apos ; ’ &#124; É “ &#93; én &apos; t
 
&apos; ll ² sßY „ 7 % &#93; l &apos;
&apos; é @ , Mrs / l &apos; &amp; amp ; 1,000
&apos; a @ - @ d &apos; ​
5a &apos; 5ss . s ,
a . ,
3.14 an &apos; t &#124;
? Ⅷ7
e - mail &apos; ll ; etc 9 /
1p.m @ - @ www.x.y
٣ ” No
5 ...
% n &apos; t / &#124; — ?
: $ &#93;
% ? « İ`etc1
 
` “ És , `.5 &#93; ​ &#93; 9É
“ 😀 /
a .. &lt; Y  &apos; -s &amp; %
etc &amp; b Ⅷwww.x.yÉ &#91; No.9 &amp;
‘ 7Ⅷ1 ½ usw
Zetc ; ½ &amp; quot ; @ Ⅷ $ Nr
.
p.mp.mc &#124; No
ausw ; etc
² 
, , aa , 5-
- .. $
7 ·
&#124; &apos; &apos; s ‘ 5 😀 e.g · Z &amp; amp ; No
&gt; Dr &#124;
&apos; a
-5
&#93; s d &apos; www.x.yYNr . · ​ ”
e - mail.etc٣. ? 日 · uswÉ
